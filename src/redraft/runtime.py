"""Settings and environment, read here and nowhere else, and a workspace made from them.

A person's own settings hold everywhere; a folder's may narrow them. The two differ when they cannot be read. The
person's own file is theirs to correct, so that is an error. A folder may come from anybody, so a broken file in it must
not lock the person out, nor let agents do more than it may have meant to allow: they may only read, and a notice says
why.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from redraft.config import AGENT_PLACES, WRITABLE, ModelEntry, Settings, environment_table, parse_settings
from redraft.errors import RedraftError, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping
    from contextlib import AbstractContextManager

    from redraft.agent.agent import Agent
    from redraft.agent.model_selection import Models, Trace
    from redraft.agent.subagents.long_documents import LongDocuments
    from redraft.files.key_store import KeyStore
    from redraft.files.textfile import DecodedText
    from redraft.providers.contract import Provider
    from redraft.providers.models import KeySources
    from redraft.workspace.workspace import Workspace

FOLDER_SETTINGS = ".redraft/settings.toml"
MAX_SETTINGS_BYTES = 1024 * 1024


def state_home() -> str:
    """Where histories are kept."""
    return _base_folder("XDG_STATE_HOME", ".local", "state")


def user_settings_path() -> str:
    return os.path.join(_base_folder("XDG_CONFIG_HOME", ".config"), "redraft", "settings.toml")


def _base_folder(variable: str, *default: str) -> str:
    # A relative path is to be ignored, says the XDG specification: it would mean another place in every folder.
    named = os.environ.get(variable, "")
    return named if os.path.isabs(named) else os.path.join(os.path.expanduser("~"), *default)


def is_colour_wanted() -> bool:
    """Whether the person's environment has nothing against colour on a terminal."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in ("", "dumb")


def mcp_token() -> str | None:
    """The token for agents over HTTP that the person has chosen in their environment."""
    return os.environ.get("REDRAFT_MCP_TOKEN") or None


def user_settings() -> Settings:
    """The person's own settings, the defaults where they have written none; their environment has the last word."""
    return parse_settings(environment_table(os.environ), "the environment", _read_user_settings())


def _read_user_settings() -> Settings:
    path = user_settings_path()
    data = _settings_bytes(path)
    return Settings() if data is None else parse_settings(parse_toml(data, path), path)


def _settings_bytes(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_SETTINGS_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RedraftError(f"{path}: {error.strerror}.", code="invalid_settings", path=path) from error


def write_settings(values: Mapping[str, str | int | bool]) -> None:
    """Set some of the person's own settings in their file, whose comments and other lines stay; never in a folder's.

    They are named as in `WRITABLE`. Nothing is written unless every value is one that the setting may have.
    """
    from redraft.formats.toml_lines import set_values

    if unknown := sorted(set(values) - set(WRITABLE)):
        raise Refused(f"{unknown[0]!a} is not a setting that can be changed here.", field=unknown[0][:100])
    for name, value in values.items():
        _check_value(name, value)
    _edit_settings(lambda text: set_values(text, values))


def write_model(name: str, entry: ModelEntry) -> None:
    """Set up a model in the person's own settings, or change it; it answers from now on unless another is named."""
    from redraft.agent.model_selection import is_local
    from redraft.formats.toml_lines import set_values

    start = ModelEntry()
    values: dict[str, str | int | bool] = {
        f"models.{name}.{each.name}": getattr(entry, each.name)
        for each in fields(ModelEntry)
        if each.name not in ("command", "pass_env") and getattr(entry, each.name) != getattr(start, each.name)
    }
    side = "local" if is_local(entry) else "remote"
    _edit_settings(lambda text: set_values(text, {**values, "routing.agent_mode": side, f"routing.{side}": name}))


def choose_model(name: str) -> None:
    """From now on this model answers if no other is named."""
    from redraft.agent.model_selection import is_local
    from redraft.formats.toml_lines import set_values

    entry = models().known.get(name)
    if entry is None:
        raise Refused(f"There is no model {name!a}.", code="not_found", model=name[:100])
    side = "local" if is_local(entry) else "remote"
    _edit_settings(lambda text: set_values(text, {"routing.agent_mode": side, f"routing.{side}": name}))


def remove_model(name: str) -> None:
    """Remove a model from the person's own settings, and its key if no other model uses it."""
    from redraft.agent.model_selection import is_local
    from redraft.formats.toml_lines import remove_table, set_values
    from redraft.providers.models import origin_of_model

    known = models().known
    entry = known.get(name)
    if entry is None:
        raise Refused(f"There is no model {name!a}.", code="not_found", model=name[:100])
    own, store, origin = user_settings(), key_store(), origin_of_model(entry)
    others = [other for named, other in own.models.items() if named != name]
    if name not in own.models and origin not in store:
        raise Refused(
            f"{name} comes from a variable in Redraft's environment. Unset it and restart Redraft.", model=name
        )

    def edit(text: str) -> str:
        side = "local" if is_local(entry) else "remote"
        text = remove_table(text, f"models.{name}") if name in own.models else text
        return set_values(text, {f"routing.{side}": ""}) if getattr(own.routing, side) == name else text

    _edit_settings(edit)
    if origin not in {origin_of_model(other) for other in others}:
        store.remove(origin)


def _edit_settings(edit: Callable[[str], str]) -> None:
    """Change the text of the person's own settings file; nothing is written unless the result can be read."""
    from redraft.files.atomic_write import write_private
    from redraft.files.locks import folder_lock
    from redraft.workspace.folder.identity import make_private

    home = os.path.join(state_home(), "redraft")
    make_private(home)
    with folder_lock(home, "settings"):
        named = user_settings_path()
        path = os.path.realpath(named)  # a link, as to a folder of dotfiles, stays one
        old = _settings_bytes(named) or b""
        parse_toml(old, named)
        mark = "\ufeff" if old.startswith(b"\xef\xbb\xbf") else ""
        new = mark + edit(old.decode("utf-8-sig"))
        parse_settings(parse_toml(new.encode(), named), named)
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            write_private(path, new, mode=stat.S_IMODE(os.stat(path).st_mode) if old else 0o600)
        except OSError as error:
            raise RedraftError(f"{named} cannot be written: {error.strerror}.", path=named) from error


def _check_value(name: str, value: str | int | bool) -> None:
    table, _, key = name.rpartition(".")
    try:
        parse_settings({table: {key: value}} if table else {key: value}, "")
    except RedraftError as error:
        wanted = error.message.partition(" must be ")[2]
        raise Refused(f"{name} must be {wanted} Nothing was changed.", field=name) from error


def folder_settings(folder: str, start: Settings) -> tuple[Settings, list[str]]:
    """What holds in a folder: `start`, narrowed by the folder's own settings; and what the person should be told."""
    from redraft.files.paths import parse_path
    from redraft.files.root import Root

    try:
        with Root.open(folder) as root:
            data = root.read(parse_path(FOLDER_SETTINGS), limit=MAX_SETTINGS_BYTES).data
        own = parse_settings(parse_toml(data, FOLDER_SETTINGS), FOLDER_SETTINGS, start)
    except RedraftError as error:
        if error.code == "not_found":
            return start, []  # no settings; a folder that is not there is told by whoever opens it
        message = error.message if FOLDER_SETTINGS in error.message else f"{FOLDER_SETTINGS}: {error.message}"
        return replace(start, mode="read"), [f"{message} Until it is fixed, agents can only read here."]
    return start.narrow(own), []


def parse_toml(data: bytes, source: str) -> dict[str, Any]:
    import tomllib

    if len(data) > MAX_SETTINGS_BYTES:
        raise RedraftError(f"{source} is too large.", code="invalid_settings", path=source)
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise RedraftError(f"{source} is not UTF-8 text.", code="invalid_settings", path=source) from error
    except tomllib.TOMLDecodeError as error:
        raise RedraftError(f"{source}: {error}.", code="invalid_settings", path=source) from error
    except RecursionError as error:  # tomllib descends without a bound into nested brackets
        raise RedraftError(f"{source} is nested too deeply.", code="invalid_settings", path=source) from error


def open_workspace(folder: str, *, mode: str | None = None) -> Workspace:
    """Open a folder as the person's settings and its own say. `mode` is the person's wish of the moment: it stands in
    the place of their setting, and the folder's settings narrow it all the same."""
    from redraft.workspace.workspace import Workspace

    chosen = user_settings()
    if mode is not None:
        chosen = replace(chosen, mode=mode)
    settings, notices = folder_settings(folder, chosen)
    return Workspace.open(folder, state_home=state_home(), settings=settings, notices=notices)


def state_of(folder: str) -> str | None:
    """Where the state of a folder lies that was opened before; nothing is made or mended. None where none is known."""
    from redraft.files.root import Root
    from redraft.workspace.folder.identity import is_elsewhere, read_id, states_of

    home, real = os.path.join(state_home(), "redraft"), os.path.realpath(folder)
    if not (os.path.isdir(home) and os.path.isdir(real)):
        return None
    with Root.open(folder) as root:
        found = read_id(root) or next(states_of(home, real), None)
    return None if found is None or is_elsewhere(home, found, real) else os.path.join(home, found)


def models(folder: str | None = None) -> Models:
    """The person's models, by their settings and keys as they are now; in a folder, as far as its settings allow."""
    from redraft.agent.model_selection import Models

    settings = user_settings()
    return Models.of(settings if folder is None else folder_settings(folder, settings)[0], key_sources())


def key_store() -> KeyStore:
    """The API keys that the person has stored."""
    from redraft.files.key_store import KeyStore

    return KeyStore(os.path.join(state_home(), "redraft"))


def key_sources() -> KeySources:
    from redraft.providers.models import KeySources

    return KeySources(os.environ, key_store())


class CurrentModels:
    """The person's models at each request: one that they have just added answers the next, without a restart."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def provider(self, name: str, trace: Trace) -> Provider:
        return models(self._folder).provider(name, trace)


@contextmanager
def open_agent(workspace: Workspace, *, guard: AbstractContextManager[Any] | None = None) -> Generator[Agent]:
    """The agent of an open folder. `guard` is the lock of whoever else uses the workspace. A job may be as wide as the
    folder's settings allow: the mode of the moment is the person's choice."""
    from redraft.agent.agent import Agent
    from redraft.agent.hosted.agent_programs import AgentPrograms
    from redraft.agent.store.agent_store import AgentStore
    from redraft.tools.registry import load_registry

    widest, _ = folder_settings(workspace.folder, replace(user_settings(), mode="merge"))
    with AgentStore(workspace.state, workspace.now) as store:
        programs = AgentPrograms(workspace.settings.agents, writable_places, program_environment)
        agent = Agent(
            workspace,
            store,
            load_registry(),
            CurrentModels(workspace.folder),
            guard=guard,
            ceiling=widest.mode,
            programs=programs,
        )
        try:
            yield agent
        finally:
            agent.close()


@contextmanager
def open_worker(workspace: Workspace, document: str) -> Generator[LongDocuments | None]:
    """Whoever works on whole documents for one call, with the person's model and within what one job may spend; None
    where no model is set up."""
    from redraft.agent.run.budget import JobBudget
    from redraft.agent.store.agent_store import AgentStore
    from redraft.agent.subagents.long_documents import make_for_call

    settings = workspace.settings
    with AgentStore(workspace.state, workspace.now) as store:
        provider = models(workspace.folder).provider("", lambda _choice: None)
        yield make_for_call(store, settings.limits, provider, document, budget=JobBudget.of(settings.agent, {}))


def read_input(name: str) -> DecodedText:
    """The text of a file that the person named on the command line, wherever it lies; `-` is the standard input."""
    import sys

    from redraft.files.root import check_not_secret_link
    from redraft.files.secret_detection import check_file_not_secret
    from redraft.files.textfile import decode

    try:
        if name == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(name, "rb") as file:
                data = file.read()
            check_not_secret_link(name)
            check_file_not_secret(os.path.realpath(name).lstrip("/"), data)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise Refused(f"{name} cannot be read: {reason}.", path=name) from error
    try:
        return decode(data)
    except RedraftError as error:
        raise Refused(f"{name}: {error.message}", code=error.code, **error.details) from error


def write_output(name: str, data: bytes, *, replace: bool) -> None:
    """A file that the person named on the command line, whole or not at all; one that is there only goes if told."""
    import secrets

    new = os.path.join(os.path.dirname(name), f".redraft-tmp-{secrets.token_hex(8)}")
    try:
        try:
            with open(new, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if replace:
                os.replace(new, name)
            else:
                _place(new, name)
        finally:
            if os.path.lexists(new):
                os.unlink(new)
    except FileExistsError as error:
        raise Refused(f"{name} already exists.", code="already_exists", path=name) from error
    except OSError as error:
        failure = RedraftError(f"{name} cannot be written: {error.strerror}.", path=name)
        failure.hint = "Name another place with --out."
        raise failure from error


def _place(new: str, name: str) -> None:
    try:
        os.link(new, name)
    except FileExistsError:
        raise
    except OSError:  # not every disk has links
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.replace(new, name)


def export_environment() -> Mapping[str, str]:
    """Where the programs of the person's own are found that an export may need."""
    return os.environ


def program_environment(temporary_folder: str, folder: str) -> dict[str, str]:
    """What a program of the person's own finds in its environment when it runs in a private view."""
    kept = {name: value for name, value in os.environ.items() if name != "REDRAFT_MCP_TOKEN"}
    return {**kept, "TMPDIR": temporary_folder, "PWD": folder}


def writable_places(program: str, named: Iterable[str]) -> list[str]:
    """Where a program may write beside its private view: the places that the person named, and where a known agent
    keeps what is its own."""
    own = [os.path.join("~", place) for place in AGENT_PLACES.get(os.path.basename(program), ())]
    found: list[str] = []
    for name in (*own, *user_settings().run.writable, *named):
        place = os.path.realpath(os.path.expanduser(name))
        if os.path.exists(place):
            found.append(place)
        elif name not in own:
            raise Refused(f"{name} is not there, so nothing can be written to it.", code="not_found", place=name)
    return list(dict.fromkeys(found))
