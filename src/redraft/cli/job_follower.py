"""Follow a running job on the terminal: its text, its tool calls and its questions.

Without a terminal only the result is shown, and a question is left for later.
"""

from __future__ import annotations

import queue
import sys
from typing import TYPE_CHECKING, Any

from redraft.cli.screen import escape

if TYPE_CHECKING:
    from redraft.agent.agent import Agent
    from redraft.agent.store.events import JobEvent
    from redraft.agent.store.jobs import Job, JobQuestion
    from redraft.cli.command import Invocation

LOOK_SECONDS = 0.1
PROGRESS = ("tool.call.completed", "documents.changed", "budget.exhausted", "conflict.found", "step.invalid")


class JobFollower:
    """Follows one job, and the one that is run in its place."""

    def __init__(self, call: Invocation, agent: Agent) -> None:
        self._call = call
        self._agent = agent
        self._events: queue.SimpleQueue[JobEvent] = queue.SimpleQueue()
        self._shows = call.screen.terminal and not call.screen.json
        self._asks = not call.screen.json and sys.stdin.isatty() and sys.stderr.isatty()
        self._open_line = False
        self.job_id = ""

    def follow(self, job: Job) -> Job:
        """Wait until there is nothing more to wait for and return the job. Ctrl+C stops it."""
        self.job_id = job.id
        end = self._agent.store.events.subscribe(self._events.put)
        try:
            while self._is_active():
                self._handle_event()
                if self._is_stuck():
                    break
        except KeyboardInterrupt:
            self._agent.cancel(self.job_id)
            self._agent.wait(self.job_id)
        finally:
            end()
            self._close_line()
        return self._agent.store.jobs.get(self.job_id)

    def _is_active(self) -> bool:
        """Whether there is anything to wait for; of a job that was run again, in the one that took its place."""
        if self._agent.is_running_here(self.job_id) or not self._events.empty():
            return True
        again = self._agent.successor(self.job_id)
        if again is None:
            return False
        self.job_id = again.id
        return True

    def _handle_event(self) -> None:
        try:
            event = self._events.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            return
        if event.job_id != self.job_id:
            return
        if event.type == "assistant.delta":
            self._stream(event.data["text"])
        elif event.type in PROGRESS:
            self._close_line()
            if self._shows:
                self._call.screen.remark(f"  {_progress_line(event)}")
        elif event.type.endswith(".requested") and event.type != "tool.call.requested":
            self._ask()

    def _stream(self, text: str) -> None:
        if self._shows:
            sys.stdout.write("\n".join(map(escape, text.split("\n"))))
            sys.stdout.flush()
            self._open_line = not text.endswith("\n")

    def _close_line(self) -> None:
        if self._open_line:
            sys.stdout.write("\n")
            self._open_line = False

    # Questions

    def _ask(self) -> None:
        question = self._agent.store.jobs.get(self.job_id).question
        if question is None:
            return
        self._close_line()
        if question.kind != "clarification" and self._call.arguments.yes:
            self._agent.confirm(self.job_id, question.id, allow=True)
        elif self._asks and question.kind == "clarification":
            self._agent.answer(self.job_id, question.id, _read_reply(f"{question.text}\n> "))
        elif self._asks:
            self._confirm(question)

    def _confirm(self, question: JobQuestion) -> None:
        from redraft.agent.memory.permissions import rules_to_allow

        for path in question.paths:
            self._call.screen.remark(f"  {path}")
        hint = "[y/N, a: always] " if question.paths and question.action else "[y/N] "
        said = _read_reply(f"{question.text} {hint}").casefold()
        always = said in ("a", "always") and bool(question.paths)
        if always:
            for rule in rules_to_allow(question.tool or question.action, question.paths):
                self._agent.environment.rules.remember(rule)
        self._agent.confirm(self.job_id, question.id, allow=always or said in ("y", "yes"))

    def _is_stuck(self) -> bool:
        """Whether the job waits for an answer that nobody here can give."""
        if self._asks or not self._events.empty():
            return False
        job = self._agent.store.jobs.get(self.job_id)
        agreed = job.question is not None and job.question.kind != "clarification" and self._call.arguments.yes
        return job.status == "waiting_for_user" and not agreed and job.reply is None


def _read_reply(prompt: str) -> str:
    sys.stdout.flush()
    sys.stderr.write("\n".join(map(escape, prompt.split("\n"))))
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt  # the person has gone
    return line.strip()


def _progress_line(event: JobEvent) -> str:
    data: dict[str, Any] = event.data
    if event.type == "tool.call.completed":
        return str(data["summary"])
    words = {
        "documents.changed": "changed in the meantime: {paths}",
        "budget.exhausted": "limit reached: {what}",
        "conflict.found": "conflict: {paths}",
        "step.invalid": "{reason}",
    }[event.type]
    told = {name: ", ".join(map(str, value)) if isinstance(value, list) else value for name, value in data.items()}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return words.format_map({"paths": data.get("path", ""), **told})
