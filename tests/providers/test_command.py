"""Agent programs as models: what they are given, what comes back, and that nothing of them is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from redraft.providers.adapters.command import CLAUDE, CommandProvider, CommandSpec, render_prompt, scrub_environ
from redraft.providers.adapters.prompted_tools import PromptedTools
from redraft.providers.contract import (
    AssistantMessage,
    CancelToken,
    ProviderError,
    ProviderStepResult,
    StepRequest,
    SystemMessage,
    ToolResult,
    Usage,
    UserMessage,
)
from tests.providers.shapes import SEARCH
from tests.speaking.lines import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("model_calls")
HELLO = StepRequest((SystemMessage("Be brief."), UserMessage("Hello.")))

# A stand-in for an agent program: it says how it was called, as JSON, under `result`.
CLAUDE_LIKE = """
import json, os, sys
told = {"argv": sys.argv[1:], "stdin": sys.stdin.read(), "env": sorted(os.environ), "cwd": os.listdir(".")}
if "--append-system-prompt-file" in sys.argv:
    place = sys.argv[sys.argv.index("--append-system-prompt-file") + 1]
    told["orders"] = open(place, encoding="utf-8", newline="").read()
    told["orders_seen_by"] = oct(os.stat(os.path.dirname(place)).st_mode & 0o777)
print(json.dumps({"result": json.dumps(told), "session_id": "s-2", "is_error": False, "total_cost_usd": 0.0125,
    "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 5}}))
"""


def program(source: str, form: Any = "text", **options: Any) -> CommandProvider:
    return CommandProvider(CommandSpec((sys.executable, "-c", source), form, **options), os.environ)


def run(
    provider: CommandProvider, request: StepRequest = HELLO, cancel: CancelToken | None = None
) -> ProviderStepResult:
    return asyncio.run(provider.run_step(request, cancel=cancel))


def failed(provider: CommandProvider, request: StepRequest = HELLO, cancel: CancelToken | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        run(provider, request, cancel)
    return caught.value


def test_a_command_reads_the_prompt_and_writes_the_answer():
    result = run(program("import sys; print(sys.stdin.read().upper())"))
    assert result.text == "BE BRIEF.\n\nHELLO."
    assert result.latency_ms > 0


def test_the_answer_of_claude_is_read_from_its_json():
    result = run(program(CLAUDE_LIKE, "claude"))
    assert result.session == "s-2"
    assert result.usage == Usage(7, 5, cached_tokens=4)
    assert result.price_usd == Decimal("0.0125")
    assert json.loads(result.text)["stdin"] == "Hello."


def told(request: StepRequest, **options: Any) -> dict[str, Any]:
    return json.loads(run(program(CLAUDE_LIKE, "claude", **options), request).text)


@pytest.mark.parametrize(
    ("session", "fork", "words"),
    [
        (None, False, []),
        ("s-1", False, ["--resume", "s-1"]),
        (None, True, ["--continue", "--fork-session"]),
        ("s-1", True, ["--resume", "s-1", "--fork-session"]),
    ],
)
def test_a_session_is_resumed_or_forked(session: str | None, fork: bool, words: list[str]):
    request = StepRequest((UserMessage("Hello."),), session=session, fork=fork)
    assert told(request)["argv"] == words


def test_orders_and_the_model_are_told_by_options():
    answer = told(HELLO, model="haiku")
    *argv, place = answer["argv"]
    assert argv == ["--model", "haiku", "--append-system-prompt-file"]
    assert answer["orders"] == "Be brief."
    assert not os.path.exists(place)


def test_long_orders_reach_the_program_and_nobody_else():
    orders = "Be brief, and secret. \U0001f600\r\n" * 20_000
    answer = told(StepRequest((SystemMessage(orders), UserMessage("Hello."))))
    assert answer["orders"] == orders
    assert answer["orders_seen_by"] == "0o700"
    assert "secret" not in str(answer["argv"])


def test_the_command_of_claude_asks_for_json():
    assert CLAUDE == ("claude", "-p", "--output-format", "json")
    assert CommandSpec().words(StepRequest(()), "") == list(CLAUDE)


def test_a_program_that_remembers_is_told_only_what_is_new():
    talk = (UserMessage("One."), AssistantMessage("Two."), UserMessage("Three."))
    assert render_prompt(StepRequest(talk, session="s-1"), separate=True) == ("", "Three.")
    assert render_prompt(StepRequest(talk), separate=True) == (
        "",
        "[user]\nOne.\n\n[assistant]\nTwo.\n\n[user]\nThree.",
    )
    assert render_prompt(StepRequest((ToolResult("1", "t", True, {"a": 1}),)), separate=False) == ("", "{'a': 1}")


def test_a_program_is_given_no_keys_but_those_that_are_named():
    environ = {
        "PATH": "/bin",
        "HOME": "/h",
        "LC_ALL": "C",
        "HTTPS_PROXY": "p",
        "OPENAI_API_KEY": "1",
        "MY_KEY": "2",
        "CLAUDECODE": "1",
        "REDRAFT_MODE": "apply",
        "AWS_SECRET_ACCESS_KEY": "3",
    }
    assert set(scrub_environ(environ, ("MY_KEY", "CLAUDECODE"))) == {"PATH", "HOME", "LC_ALL", "HTTPS_PROXY", "MY_KEY"}


def test_a_program_runs_in_an_empty_folder_that_is_gone_afterwards(tmp_path: Path):
    assert told(HELLO)["cwd"] == []
    folder = run(program("import os; print(os.getcwd())")).text
    assert not os.path.exists(folder)
    (tmp_path / "note.md").write_text("x", encoding="utf-8")
    assert told(HELLO, folder=str(tmp_path))["cwd"] == ["note.md"]


def test_words_of_a_command_never_meet_a_shell(tmp_path: Path):
    marker = tmp_path / "marker"
    words = (sys.executable, "-c", "import sys; print(sys.argv[1])", f"; touch {marker}; $(touch {marker})")
    result = run(CommandProvider(CommandSpec(words, "text"), os.environ))
    assert result.text == words[-1]
    assert not marker.exists()


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        ("import sys; sys.exit('the disk is full')", "unavailable", "failed with status 1. the disk is full"),
        ("print('not json')", "invalid_output", "is not valid"),
        ("print('[1]')", "invalid_output", "not an object"),
        ('print(\'{"result": "no credit", "is_error": true}\')', "bad_request", "no credit"),
        ('print(\'{"session_id": "s"}\')', "bad_request", "reported an error"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "unavailable", "status -9"),
    ],
)
def test_a_program_that_fails_is_a_typed_failure(source: str, kind: str, words: str):
    failure = failed(program(source, "claude"))
    assert failure.kind == kind
    assert words in failure.message


def test_a_program_that_is_not_there_is_unavailable():
    failure = failed(CommandProvider(CommandSpec(("no-such-program-anywhere",), "text"), os.environ))
    assert (failure.kind, failure.code) == ("unavailable", "model_unavailable")


@pytest.mark.slow
def test_a_program_that_takes_too_long_is_ended_with_its_children(tmp_path: Path):
    pid = tmp_path / "pid"
    # A shell, which has written the number long before its time is over: Python may take seconds to start.
    source = f"sleep 600 & echo $! > '{pid}'; wait"
    failure = failed(CommandProvider(CommandSpec(("sh", "-c", source), "text", seconds=3.0), os.environ))
    assert failure.kind == "timeout"
    child = int(pid.read_text(encoding="utf-8"))
    assert gone(child)


def gone(pid: int) -> bool:
    """Whether a process has ended (one that nobody has asked about yet is a zombie, and has)."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False


def test_a_cancelled_program_is_ended(tmp_path: Path):
    pid = tmp_path / "pid"
    source = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    cancel = CancelToken()

    async def main() -> None:
        step = asyncio.ensure_future(program(source).run_step(HELLO, cancel=cancel))
        await asyncio.to_thread(wait_for, pid)
        cancel.set()
        await step

    with pytest.raises(ProviderError) as caught:
        asyncio.run(main())
    assert caught.value.kind == "cancelled"
    assert gone(int(pid.read_text(encoding="utf-8")))


def wait_for(path: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and not (path.exists() and path.read_text(encoding="utf-8")):
        time.sleep(0.02)


def test_a_flood_of_output_is_stopped():
    failure = failed(program("while True: print('x' * 1000)", output_bytes=100_000))
    assert (failure.kind, "more than 100000 bytes" in failure.message) == ("invalid_output", True)


@pytest.mark.parametrize("bound", [{"output_bytes": 100_000}, {"seconds": 1.0}])
def test_a_program_is_let_go_of_though_one_that_it_started_holds_on_to_its_output(bound: dict[str, Any]):
    source = (
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True)\n"
        "while True: print('x' * 1000)" + ("" if "output_bytes" in bound else "; time.sleep(1)")
    )
    begun = time.monotonic()
    assert failed(program(source, **bound)).kind in ("invalid_output", "timeout")
    assert time.monotonic() - begun < 45


def test_a_long_prompt_passes_through():
    long = "word " * 400_000
    request = StepRequest((UserMessage(long),))
    assert run(program("import sys; print(len(sys.stdin.read()))"), request).text == str(len(long))


def test_a_program_may_answer_without_reading_its_prompt():
    request = StepRequest((UserMessage("word " * 400_000),))
    assert run(program("print('done')"), request).text == "done"


@pytest.mark.covers("SB-provider-native-tools")
def test_a_program_calls_tools_by_the_json_protocol():
    answer = {"say": "I look.", "calls": [{"tool": "search", "arguments": {"query": "x"}}]}
    provider = PromptedTools(program(f"print({json.dumps(answer)!r})"))
    result = asyncio.run(provider.run_step(StepRequest((UserMessage("Look."),), (SEARCH,))))
    assert not provider.supports_native_tools
    assert [(call.name, call.arguments) for call in result.tool_calls] == [("search", {"query": "x"})]
