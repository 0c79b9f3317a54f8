"""`redraft models`: list models, set one up, try it, choose it, remove it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from redraft.cli.command import CONFLICTS, Command, Invocation
from redraft.cli.screen import BOLD, DIM, GREEN, StyledText
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.config import ModelEntry

PROVIDERS = ("anthropic", "openai", "google", "compatible")
WHERE = {
    "keyring": "key in the system's keyring",
    "file": "key in Redraft's private file",
    "environment": "key in the environment",
    "missing": "no key",
    "none": "",
}


def list_models(call: Invocation) -> int:
    from redraft.agent.model_setup import place_of_key
    from redraft.runtime import key_sources, key_store
    from redraft.runtime import models as persons_models

    known = persons_models()
    default = known.provider("", lambda _choice: None)
    entries = [{"name": name, "kind": entry.kind, "model": entry.model} for name, entry in known.known.items()]
    answering = {"provider": default.provider_name, "model": default.model}
    if call.screen.json:
        call.emit({"models": entries, "agent_mode": known.routing.agent_mode, "default": answering})
        return 0
    sources, store = key_sources(), key_store()
    for name, entry in known.known.items():
        call.screen.line(
            "  ",
            StyledText(f"{name:<20}", BOLD),
            StyledText(f"{entry.kind:<18}", DIM),
            f"{entry.model}  ",
            StyledText(WHERE[place_of_key(entry, sources, store)], DIM),
            StyledText("  default", GREEN) if name in known.default_names else "",
        )
    if not entries:
        call.screen.line("No model is set up: `redraft models add anthropic` asks for a key and stores it safely.")
        call.screen.line(
            "Until then the built-in assistant answers, following fixed rules: `redraft ask help` lists what it can do."
        )
    answerers = " or ".join(known.default_names) or default.provider_name
    call.screen.line(f"agent_mode is {known.routing.agent_mode}; without --model, {answerers} answers.")
    return 0


def add(call: Invocation) -> int:
    from redraft.agent.model_setup import ModelSpec, check_name, entry_of, place_of_key
    from redraft.providers.models import origin_of_model
    from redraft.runtime import key_sources, key_store, user_settings, write_model

    given = call.arguments
    entry = entry_of(ModelSpec(given.provider, given.model, given.url, not given.no_tools))
    name = check_name(given.name or given.provider, user_settings().models)
    key = _read_key(call, entry)
    if key:
        key_store().set(origin_of_model(entry), key)
    elif place_of_key(entry, key_sources(), key_store()) == "missing":
        raise Refused("This model needs an API key: answer the prompt, or send it on standard input.", field="key")
    write_model(name, entry)
    place = place_of_key(entry, key_sources(), key_store())
    if call.screen.json:
        call.screen.emit({"name": name, "kind": entry.kind, "model": entry.model, "key": place})
        return 0
    where = f" ({WHERE[place]})" if WHERE[place] else ""
    call.screen.line(f"{name} is set up with {entry.model}{where}, and answers from now on.")
    call.screen.line(StyledText(f"Try it: redraft models test {name}", DIM))
    return 0


def _read_key(call: Invocation, entry: ModelEntry) -> str:
    """The key, as the person types it unseen, or from a pipe; never an argument, which others on the machine can see.
    Empty for a server that needs none."""
    from redraft.agent.model_selection import is_local

    if call.arguments.no_key or is_local(entry):
        return ""
    if not sys.stdin.isatty():
        return sys.stdin.readline(8192).strip()
    from getpass import getpass

    return getpass(f"API key for {entry.base_url or call.arguments.provider} (not shown): ").strip()


def test(call: Invocation) -> int:
    from redraft.agent.model_setup import check_model
    from redraft.runtime import key_sources, models

    known = models()
    name = call.arguments.name or next(iter(known.default_names), "")
    entry = known.known.get(name)
    if entry is None:
        raise Refused(f"There is no model {name!a}; `redraft models` lists them.", code="not_found", model=name)
    found = check_model(entry, key_sources())
    if call.screen.json:
        call.screen.emit({"name": name, **asdict(found)})
    elif found.ok:
        price = "no price known" if found.price_usd is None else f"${found.price_usd}"
        call.screen.line(found.text)
        call.screen.line(StyledText(f"{found.model}, {price}, {found.seconds:.1f} s", DIM))
    else:
        call.screen.line(found.text)
    return 0 if found.ok else CONFLICTS


def use(call: Invocation) -> int:
    from redraft.runtime import choose_model

    choose_model(call.arguments.name)
    if call.screen.json:
        call.screen.emit({"default": call.arguments.name})
    else:
        call.screen.line(f"{call.arguments.name} answers from now on, unless --model names another.")
    return 0


def remove(call: Invocation) -> int:
    from redraft.runtime import remove_model

    remove_model(call.arguments.name)
    if call.screen.json:
        call.screen.emit({"removed": call.arguments.name})
    else:
        call.screen.line(f"{call.arguments.name} was removed, and its key if no other model uses it.")
    return 0


def configure_add(parser: ArgumentParser) -> None:
    parser.add_argument("provider", metavar="PROVIDER", choices=PROVIDERS, help=f"one of {', '.join(PROVIDERS)}")
    parser.add_argument("--model", metavar="M", default="", help="its name at the provider (default: a good one)")
    parser.add_argument("--url", metavar="U", default="", help="the server's address, for `compatible`")
    parser.add_argument("--name", metavar="N", default="", help="what to call it here (default: the provider)")
    parser.add_argument("--no-tools", action="store_true", help="the model was not trained to call tools")
    parser.add_argument("--no-key", action="store_true", help="the server needs no key, or the stored one stays")


def configure_test(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="the model (default: the one that answers)")


def configure_name(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the model, as `redraft models` lists it")


COMMANDS = {
    "models": Command(
        "models",
        "List the models that the agent can use",
        list_models,
        examples=("models", "models --json"),
        about="List the models that the agent can use, and which one answers. `redraft models add`, `test`, `use` and\n"
        "`remove` set them up.",
    ),
    "models add": Command(
        "models add",
        "Set up a model, with its key",
        add,
        configure_add,
        (
            "models add anthropic",
            "models add openai --model gpt-5-mini --name mini",
            "models add compatible --url http://localhost:11434/v1 --model llama3.2 --name small",
        ),
        "Set up a model and let it answer from now on, in a running server too. The key is asked for and not\n"
        "shown, or read from standard input. It is stored in the system's keyring, or in a file that only you can\n"
        "read, never in a folder of documents or in the settings.",
    ),
    "models test": Command(
        "models test",
        "Ask a model one short question: its answer, its name, the price",
        test,
        configure_test,
        ("models test", "models test small"),
    ),
    "models use": Command("models use", "Choose the model that answers", use, configure_name, ("models use small",)),
    "models remove": Command(
        "models remove", "Remove a model, and its key", remove, configure_name, ("models remove small",)
    ),
}
