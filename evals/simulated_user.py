"""The person whom a task needs, played: answers, consents, types while the agent works, and judges hunk by hunk.

They know the right folder. A proposal that fulfils the task they accept whole; of another they accept the hunks that
belong to the right folder and refuse the others, which is what the share of accepted hunks measures. Never used where
a real person is there to decide.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.agent.run.job_review import hunk_ids, pending_hunks
from redraft.agent.store.jobs import NO_ANSWER
from redraft.errors import RedraftError
from redraft.text.edits import Change, Edit
from redraft.text.merge.three_way import merge
from redraft.workspace.document import FILE_HUNK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evals.tasks import ConcurrentEdit, Moment, Task
    from redraft.agent.agent import Agent
    from redraft.agent.store.jobs import Job
    from redraft.workspace.document import Draft


class SimulatedUser:
    """One person at one task."""

    def __init__(self, task: Task, agent: Agent) -> None:
        self._task = task
        self._agent = agent
        self._answers = list(task.answers)
        self._to_do = list(task.meanwhile)
        self.trouble: list[str] = []

    def reply(self, job: Job) -> None:
        """Answer what the job asks."""
        question = job.question
        if question is None:
            return
        if question.kind == "clarification":
            answer = self._answers.pop(0) if self._answers else NO_ANSWER
            self._agent.answer(job.id, question.id, answer)
        else:
            # What a run may cost is the task's to limit: the person is there for what it does.
            allow = self._task.allows or question.kind == "estimate"
            self._agent.confirm(job.id, question.id, allow=allow)

    def act(self, at: Moment) -> None:
        """Do what the task has the person, or another program, do at this moment; each once."""
        now = [each for each in self._to_do if each.at == at]
        self._to_do = [each for each in self._to_do if each.at != at]
        for each in now:
            try:
                with self._agent.environment.guard:
                    self._write(each)
            except (RedraftError, OSError, ValueError) as error:
                self.trouble.append(f"{each.by} could not change {each.path}: {error}")

    def _write(self, change: ConcurrentEdit) -> None:
        workspace = self._agent.environment.workspace
        if change.by == "program":
            path = os.path.join(workspace.folder, change.path)
            with open(path, "rb") as file:
                data = file.read()
            with open(path, "wb") as file:
                file.write(data.replace(change.old.encode(), change.new.encode(), 1))
            return
        at = str(workspace.read(change.path).text).index(change.old)
        workspace.type(change.path, Change((Edit(at, change.old, change.new),)))

    def correct_hunks(self, job: Job) -> list[str]:
        """Which of the job's hunks belong to the right folder."""
        workspace = self._agent.environment.workspace
        left = {} if job.turn is None else pending_hunks(workspace, job.turn)
        drafts = {draft.key: draft for draft in workspace.drafts()}
        return [hunk_id for hunk_id, (path, name) in hunk_ids(left).items() if self._is_right(drafts[path], name)]

    def _is_right(self, draft: Draft, name: str) -> bool:
        if name == FILE_HUNK:
            return _is_file_right(draft, self._task.after)
        hunk = next(each for each in draft.review.hunks if each.id == name)
        wanted = self._task.after.get(draft.key)
        return wanted is not None and is_change_right(
            draft.review.base, hunk.at, hunk.base, hunk.working, wanted.decode("utf-8-sig")
        )


def _is_file_right(draft: Draft, after: Mapping[str, bytes]) -> bool:
    if draft.kind == "deleted":
        return draft.base_path not in after
    if draft.kind == "moved":
        return draft.path in after and draft.base_path not in after
    return after.get(draft.key) == draft.encode_text(draft.review.working)


def is_change_right(base: str, at: int, old: str, new: str, wanted: str) -> bool:
    """Whether putting `new` in the place of `old` brings nothing into `base` that the wanted text does not have: merged
    with all that is wanted, it adds nothing to it and contradicts nothing of it."""
    changed = base[:at] + new + base[at + len(old) :]
    both = merge(base, changed, wanted)
    return changed != base and both.clean and both.text == wanted
