"""Refuse model calls: a switch for tests, and for people who want to be certain that nothing leaves the machine.

`REDRAFT_MODEL_CALLS` is read at every call, here and not in `runtime`: a guard that has to be wired in can be
forgotten, and child processes must inherit it:

- `refuse`: no model is reached over the network and no agent program is started;
- `loopback`: only loopback addresses of this machine; no programs, since nobody knows whom they call;
- `child_process`: the same, plus agent programs, which are trusted to do what they are told;
- anything else, or unset: everything that is configured.

A model inside this process needs no permission: it reaches nobody.
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from redraft.providers.errors import ProviderError

SWITCH = "REDRAFT_MODEL_CALLS"
_THIS_MACHINE = ("loopback", "programs")
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def is_loopback(url: str) -> bool:
    """Whether an address is a loopback address, which cannot reach another machine."""
    return urlsplit(url).hostname in _LOOPBACK


def check_address(url: str, provider: str) -> None:
    """Raise if the switch forbids a request to this address."""
    switch = os.environ.get(SWITCH, "")
    if switch == "refuse" or (switch in _THIS_MACHINE and not is_loopback(url)):
        raise _refusal(provider)


def check_command(provider: str) -> None:
    """Raise if the switch forbids starting a program that may reach a model."""
    if os.environ.get(SWITCH, "") in ("refuse", "loopback"):
        raise _refusal(provider)


def _refusal(provider: str) -> ProviderError:
    return ProviderError(f"Model calls are turned off here ({SWITCH}).", kind="unavailable", provider=provider)
