"""Refusing model calls: a switch for tests and for people who want certainty that nothing leaves the machine.

`REDRAFT_MODEL_CALLS` is read at every call, here and not in `runtime`, because a guard that depends on being wired in
is none, and because child processes must inherit it:

- `refuse`: no model is reached over the network and no agent program is started;
- `loopback`: only what answers on this machine's own loopback addresses; no program, since nobody knows whom it calls;
- `child_process`: the same, and agent programs, which are trusted to keep to what they are told;
- anything else, or unset: everything that is set up.

A model that runs inside this process needs no permission: it reaches nobody.
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from redraft.providers.errors import ProviderError

SWITCH = "REDRAFT_MODEL_CALLS"
_THIS_MACHINE = ("loopback", "programs")
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def is_loopback(url: str) -> bool:
    """Whether an address is one of this machine's own, that no other can be reached by."""
    return urlsplit(url).hostname in _LOOPBACK


def check_address(url: str, provider: str) -> None:
    """Raise where the switch forbids a request to this address."""
    switch = os.environ.get(SWITCH, "")
    if switch == "refuse" or (switch in _THIS_MACHINE and not is_loopback(url)):
        raise _refusal(provider)


def check_command(provider: str) -> None:
    """Raise where the switch forbids starting a program that may reach a model."""
    if os.environ.get(SWITCH, "") in ("refuse", "loopback"):
        raise _refusal(provider)


def _refusal(provider: str) -> ProviderError:
    return ProviderError(f"Model calls are turned off here ({SWITCH}).", kind="unavailable", provider=provider)
