"""What a person reads before they go back: the history narrowed, what taking a turn back would do, what changed since.

Nothing is written here. What is shown before an undo is computed by the code that does it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from redraft.errors import Refused
from redraft.files.paths import DocPath
from redraft.workspace.secret_gate import find_withheld, mask_texts
from redraft.workspace.turns.edit_positions import text_of
from redraft.workspace.undo.draft_moves import Clash
from redraft.workspace.undo.inverse import reset_turn
from redraft.workspace.undo.rollback import check_not_pruned, check_standing, plan_undo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.history.turns import TurnRecord
    from redraft.workspace.engine import Engine
    from redraft.workspace.turns.plan import Plan

MOST_TURNS = 5000


@dataclass(frozen=True, slots=True)
class StepView:
    """What happens to one document, with its text on both sides; secrets are masked."""

    path: str
    action: str
    moved_from: str | None
    before: str
    after: str


class HistoryView:
    """Questions about the history of one folder. For those who hold the guard."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def turns(
        self,
        *,
        limit: int,
        path: str | None = None,
        before: int | None = None,
        author: str | None = None,
        since: float | None = None,
        until: float | None = None,
    ) -> Sequence[TurnRecord]:
        """The newest turns first, of one document, one author, or a stretch of time."""
        found = None if path is None else self._engine.documents.path(path)
        self._engine.outside.look_now()
        turns = self._engine.turns
        return turns.recent(limit=limit, path=found, before=before, author=author, since=since, until=until)

    def plan(self, number: int, *, restoring: bool) -> tuple[list[StepView], list[Clash]]:
        """What undoing a turn would do now, or restoring the state before it; or what stands in the way."""
        engine = self._engine
        engine.outside.look_now(engine.turns.get(number).paths)
        with engine.journal.lock():
            turn = engine.turns.get(number)
            try:
                check_not_pruned(turn)
                if restoring:
                    return self._masked(number, self._steps_of(reset_turn(engine, turn))), []
                check_standing(turn)
                plan, clashes = plan_undo(engine, turn)
            except Refused as error:
                return [], [Clash("", "", error.message)]
            return ([], clashes) if clashes else (self._masked(number, self._steps_of(plan)), [])

    def since(self, moment: float) -> list[StepView]:
        """How the documents on the disk differ from what they were at a time, whoever changed them."""
        engine = self._engine
        engine.outside.look_now()
        first: dict[str, StepView] = {}
        for turn in reversed(engine.turns.recent(limit=MOST_TURNS, since=moment)):
            moved = {step.moved_from for step in turn.files if step.moved_from is not None}
            for step in turn.files:
                if step.after is None and step.path in moved:
                    continue  # told by the step of its new name
                came_from = first.pop(step.moved_from, None) if step.moved_from is not None else first.get(step.path)
                if came_from is not None:
                    first[step.path] = replace(came_from, path=step.path)
                    continue
                old = step.moved_from or step.path
                before = next((each.before for each in turn.files if each.path == old), step.before)
                origin = None if before is None else old
                view = StepView(step.path, "", origin, text_of(engine, before), "")
                [first[step.path]] = self._masked(turn.id, [view])
        found = [self._with_present(step) for step in first.values()]
        return sorted((step for step in found if step is not None), key=lambda step: step.path)

    def _with_present(self, step: StepView) -> StepView | None:
        """The same with the text that is on the disk now; None if nothing differs. `moved_from` is the name it had."""
        document = self._engine.documents.document(DocPath(step.path))
        after = "" if document is None else str(document.text)
        if document is None:
            return None if step.moved_from is None else replace(step, action="deleted", moved_from=None)
        [(_, _, after)] = mask_texts(
            [(step.path, step.before, after)], find_withheld(self._engine, 0, [(step.path, step.before, after)])
        )
        if step.moved_from is None:
            return replace(step, action="created", after=after)
        if step.moved_from != step.path:
            return replace(step, action="moved", after=after)
        return None if after == step.before else replace(step, action="modified", moved_from=None, after=after)

    def _steps_of(self, plan: Plan) -> list[StepView]:
        sources = {file.moved_from: file for file in plan.files if file.moved_from is not None}
        gone = {file.path: file for file in plan.files if file.after is None}
        steps: list[StepView] = []
        for file in plan.files:
            if file.after is None and file.path in sources:
                continue
            source = gone.get(file.moved_from) if file.moved_from is not None else None
            old = file.before if source is None else source.before
            texts = ["" if side is None or side.text is None else str(side.text) for side in (old, file.after)]
            action = "moved" if file.moved_from else "created" if old is None else "modified"
            action = "deleted" if file.after is None else action
            steps.append(StepView(file.path, action, file.moved_from, texts[0], texts[1]))
        written = {file.path for file in plan.files}
        for path, draft in plan.drafts.items():
            if path in written:
                continue
            standing = self._engine.documents.draft(path)
            document = self._engine.documents.document(DocPath(path))
            saved = "" if document is None else str(document.text)
            now, then = (saved if side is None else str(side.review.working) for side in (standing, draft))
            if now != then:
                steps.append(StepView(path, "modified", None, now, then))
        return steps

    def _masked(self, turn: int, steps: list[StepView]) -> list[StepView]:
        texts = [(step.path, step.before, step.after) for step in steps]
        shown = mask_texts(texts, find_withheld(self._engine, turn, texts))
        return [
            replace(step, before=before, after=after) for step, (_, before, after) in zip(steps, shown, strict=True)
        ]
