"""A provider around another one: it forwards everything, and a subclass defines what happens in a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redraft.providers.contract import Provider


class ProviderWrapper:
    """Everything but `run_step`. `report`, which tells a router about its model, and `aclose` are forwarded if the
    inner provider has them."""

    def __init__(self, inner: Provider) -> None:
        self._inner = inner

    @property
    def provider_name(self) -> str:
        return self._inner.provider_name

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def supports_native_tools(self) -> bool:
        return self._inner.supports_native_tools

    @property
    def context_tokens(self) -> int | None:
        return self._inner.context_tokens

    def skip_step(self) -> None:
        self._inner.skip_step()

    def report(self, trigger: str) -> bool:
        report = getattr(self._inner, "report", None)
        return report is not None and bool(report(trigger))

    async def aclose(self) -> None:
        close = getattr(self._inner, "aclose", None)
        if close is not None:
            await close()
