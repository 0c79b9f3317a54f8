"""How drafts go back with their documents when a turn is taken back: what a person has typed stands where its document
stands, and is never dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from redraft.files.paths import DocPath
from redraft.files.textfile import decode
from redraft.history.recovery import read_or_none
from redraft.history.turns import load_positions
from redraft.review.outside_change import edit_saved_text, has_typing_in_words
from redraft.workspace.turns.edit_positions import change_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.history.journal import FilePlan
    from redraft.history.turns import ReviewStep, TurnRecord
    from redraft.workspace.document import Draft
    from redraft.workspace.engine import Engine
    from redraft.workspace.turns.plan import Plan


@dataclass(frozen=True, slots=True)
class Clash:
    """Something that could not be taken back, and why."""

    path: str
    hunk_id: str
    reason: str


def name_met(draft: Draft, hunk_id: str = "") -> Clash:
    """What of a draft stands in the way of taking words back, and how to make room. Saving it would not help: then the
    words have been changed since."""
    typing = f"change it, or `redraft discard {draft.key}`"
    if not draft.dirty:
        reason = "there is a proposal at the same words: decide it first"
    elif not draft.pending:
        reason = f"there is unsaved typing at the same words: {typing}"
    else:
        reason = f"there is unsaved typing or a proposal at the same words: decide it, {typing}"
    return Clash(draft.key, hunk_id, reason)


def find_rivals(engine: Engine, plan: Plan) -> dict[str, str]:
    """Drafts that would be left beside one of the plan's for the same file, each with the plan's. A file has one."""
    files = {
        key: draft.base_path for key, draft in plan.drafts.items() if draft is not None and draft.base_path is not None
    }
    others = {key: engine.reviews.working_path(path) for key, path in files.items()}
    return {other: key for key, other in others.items() if other is not None and other not in plan.drafts}


def name_pending_moves(engine: Engine, plan: Plan) -> list[Clash]:
    """The documents that somebody proposes to move, where a draft of the plan would come to stand beside theirs."""
    return [
        Clash(path, "", f"the document is now at {other}: decide its move first")
        for other, path in find_rivals(engine, plan).items()
    ]


def name_rival(engine: Engine, path: str) -> str:
    """What has taken the place to which a document would go back, and how to make room."""
    draft = engine.documents.draft(path)
    if draft is not None and draft.saved is None and not draft.review.turns:
        return f"there is unsaved text of yours at {path}: save it and rename it, or `redraft discard {path}`"
    return f"there is now another document at {path}: decide about it, rename or delete it first"


def review_moves(engine: Engine, turn: TurnRecord) -> dict[str, ReviewStep]:
    """For each place to which the turn moved a draft, the step that took it from its old one: they are one change."""
    gone = [step for step in turn.reviews if step.before is not None and step.after is None]
    found: dict[str, ReviewStep] = {}
    for step in turn.reviews:
        if step.before is not None or step.after is None:
            continue
        home = engine.documents.from_image(step.after).base_path
        homes = {home, *(file.moved_from for file in turn.files if file.path == home and file.moved_from)}
        for source in gone:
            if source.before is not None and engine.documents.from_image(source.before).base_path in homes:
                found[step.path] = source
                gone.remove(source)
                break
    return found


def find_traded_places(engine: Engine, turn: TurnRecord) -> dict[str, str]:
    """Where another program let documents trade places, or took a draft along: for each place the one that its document
    came from. The turn says of such documents only that they changed, so they are known by their content or by their
    drafts. None where each place has the draft that the turn left there: then all is as it was when that is set back.
    """
    if turn.kind != "outside":
        return {}
    steps = [step for step in turn.files if step.moved_from is None and step.before and step.after]
    found = {new.path: old.path for new in steps for old in steps if new is not old and new.after == old.before}
    drafts = {step.path: (_load(engine, step.before), _load(engine, step.after)) for step in turn.reviews}
    for path, (was, left) in drafts.items():
        if left is None or not left.changes or (was is not None and was.changes == left.changes):
            continue
        homes = [home for home, (old, _) in drafts.items() if old is not None and old.changes == left.changes]
        if len(homes) == 1:
            found[path] = homes[0]
    places = {*found, *found.values()}
    as_left = all(engine.documents.draft(path) == drafts.get(path, (None, None))[1] for path in places)
    return {} if as_left or len({*found.values()}) < len(found) else found


def _load(engine: Engine, image: str | None) -> Draft | None:
    return None if image is None else engine.documents.from_image(image)


def carry_back(engine: Engine, plan: Plan, traded: dict[str, str], disk_after: dict[str, bytes | None]) -> list[Clash]:
    """Documents that traded places take their drafts back with them, with all that was typed since. Where somebody has
    typed at a place that one of them would come to, each draft stays where it is and follows its file."""
    if any(engine.documents.draft(home) is not None for home in {*traded.values()}.difference(traded)):
        return []
    clashes: list[Clash] = []
    plan.drafts.update(dict.fromkeys(traded))
    for place, home in traded.items():
        draft = engine.documents.draft(place)
        if draft is None:
            continue
        moved = replace(draft, path=home, base_path=home)
        there = moved.with_disk(disk_then(engine, moved, disk_after))
        if draft.kind != "modified" or there.adds_conflict_to(moved):
            clashes.append(name_met(draft))
        plan.put_draft(there)
    return clashes


def follow_file(draft: Draft, file: FilePlan, passed: Sequence[int] = ()) -> Draft | None:
    """A draft whose file is about to change, by exactly the plan's edits where they are known; None where they meet
    what is not saved. `passed` says how much of that stands in front of what each of them puts in."""
    if file.after is None or file.edits is None:
        return draft.with_disk(file.after.data if file.after else None)
    text = decode(file.after.data).text
    change = change_of(load_positions(file.edits), draft.saved_text, text)
    meets = has_typing_in_words(draft.review, change)
    review = None if meets else edit_saved_text(draft.review, change, around_typing=True, passed=passed)
    return None if review is None or review.saved != text else replace(draft, review=review, saved=file.after.data)


def disk_then(engine: Engine, draft: Draft, disk_after: dict[str, bytes | None]) -> bytes | None:
    """What the disk will hold, once the plan is carried out, where this draft's file lies."""
    where = draft.base_path or draft.key
    return disk_after[where] if where in disk_after else read_or_none(engine.root, DocPath(where))


def let_others_follow(
    engine: Engine,
    plan: Plan,
    disk_after: dict[str, bytes | None],
    back: dict[str, str],
    passed: dict[str, tuple[int, ...]],
) -> list[Clash]:
    """Drafts of documents that the turn changed only on disk take the change in. Where a document goes `back` to
    another place its draft goes with it, if none stands there."""
    clashes: list[Clash] = []
    for path, data in disk_after.items():
        draft = None if path in plan.drafts else engine.documents.draft(path)
        if draft is None:
            continue
        plan.drafts[path] = None
        home = back.get(draft.base_path or "")
        if home is None or disk_after.get(home) is None:
            file = next((file for file in plan.files if file.path == path), None)
            exact = None if file is None or data is None else follow_file(draft, file, passed.get(path, ()))
            after = draft.over_returned_file(data) or exact or draft.with_disk(data)
            if after.adds_conflict_to(draft):
                clashes.append(name_met(draft))
            plan.put_draft(after)
            continue
        path_then = home if draft.path == draft.base_path else draft.path
        after = replace(draft, base_path=home, path=path_then, turn="" if path_then == home else draft.turn)
        if after.key != draft.key and engine.documents.draft(after.key) is not None:
            clashes.append(Clash(path, "", name_rival(engine, after.key)))
        plan.drafts[draft.key] = None
        there = after.with_disk(disk_after[home])
        if there.adds_conflict_to(after):
            clashes.append(name_met(draft))
        plan.put_draft(there)
    return clashes
