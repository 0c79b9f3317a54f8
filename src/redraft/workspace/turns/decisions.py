"""A person's decisions about pending hunks. Each call is a turn of theirs, so each can be undone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from redraft.errors import Forbidden, Refused
from redraft.files.paths import DocPath
from redraft.files.textfile import decode
from redraft.history.journal import Content, FilePlan
from redraft.history.turns import PERSON, Author, EditPosition, State, dump_positions
from redraft.review.operations import Unit, expand, resolve, split_hunk, take_theirs
from redraft.text.text import Text
from redraft.workspace.document import FILE_HUNK, content_hash
from redraft.workspace.turns.edit_positions import positions_of_decision
from redraft.workspace.turns.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from redraft.history.turns import TurnRecord
    from redraft.workspace.document import Draft
    from redraft.workspace.engine import Engine

    Choice = Mapping[str, "Sequence[str] | None"]


@dataclass(slots=True)
class DecisionResult:
    """What a decision did: the turn it became, and for each document how many hunks were decided and how many are
    left."""

    turn: TurnRecord | None
    counts: dict[str, int] = field(default_factory=dict[str, int])
    left: dict[str, int] = field(default_factory=dict[str, int])


def accept(
    engine: Engine,
    choice: Choice,
    *,
    author: Author = PERSON,
    base_hash: Mapping[str, str] | None = None,
    turn: int | None = None,
) -> DecisionResult:
    """Accept hunks and write them to the documents. `None` for a document means all of it, including unsaved typing.
    With a `turn`, only its part of hunks that several turns share is accepted."""
    with engine.journal.lock():
        token = "" if turn is None else engine.turns.get(turn).token
        chosen = _choose_drafts(engine, choice, of_agents=False, turn=token)
        for draft, _ in chosen:
            _check_base(draft, base_hash or {})
        plan = Plan()
        for (draft, ids), wanted in zip(chosen, choice.values(), strict=True):
            after = draft.accept_hunks(ids, token)
            # All of a document is what the person sees: their typing is saved with it.
            typing = wanted is None and after.key != "" and not after.review.unsaveable
            if typing:
                after = after.save_typing()
            places = positions_of_decision(draft.review, ids, turn=token, typing=typing)
            data = _plan_files(plan, draft, after, places)
            _replace_draft(plan, draft, replace(after, saved=data, base_path=None if data is None else after.base_path))
        return _commit(engine, plan, "accept", chosen, author)


def reject(engine: Engine, choice: Choice, *, author: Author = PERSON, turn: int | None = None) -> DecisionResult:
    """Reject hunks. `None` for a document means everything that agents propose in it; the person's own edits stay. With
    a `turn`, only its part of hunks that several turns share is rejected."""
    with engine.journal.lock():
        token = "" if turn is None else engine.turns.get(turn).token
        chosen = _choose_drafts(engine, choice, of_agents=True, turn=token)
        plan = Plan()
        rejected: list[tuple[Draft, set[str]]] = []
        for draft, ids in chosen:
            after = draft.reject_hunks(ids, token)
            # A new document that is the person's own is no agent's proposal: nothing of it is refused.
            rejected.append((draft, ids if after != draft else set()))
            _replace_draft(plan, draft, after)
        return _commit(engine, plan, "reject", rejected, author)


def settle(engine: Engine, path: str, hunk: str, text: str | None, *, author: Author = PERSON) -> DecisionResult:
    """Settle one hunk, often a conflict: with the agent's text (`text` is None) or a text of the person's own."""
    with engine.journal.lock():
        ((draft, ids),) = _choose_drafts(engine, {path: [hunk]}, of_agents=False)
        plan = Plan()
        if text is None:
            _replace_draft(plan, draft, replace(draft, review=take_theirs(draft.review, ids)))
            return _commit(engine, plan, "take", [(draft, ids)], author)
        after = replace(draft, review=resolve(draft.review, hunk, text))
        places = _positions_of_proposal(draft, hunk, text)
        if draft.base_path is not None:  # a document that is still to be created waits with all it says
            after = replace(after, saved=_plan_files(plan, draft, after, places))
        _replace_draft(plan, draft, after)
        return _commit(engine, plan, "accept", [(draft, ids)], author, verb="Settle")


def _positions_of_proposal(draft: Draft, hunk: str, text: str) -> list[EditPosition] | None:
    """Where the agent's words are, if a hunk is settled with exactly what it proposes; None for any other text."""
    taken = take_theirs(draft.review, [hunk])
    proposed = next((part for part in taken.parts if part.id == hunk and part.marks), None)
    if proposed is None or proposed.working != text:
        return None
    return positions_of_decision(taken, [hunk])


def expand_choice(engine: Engine, choice: Choice, unit: Unit) -> dict[str, list[str] | None]:
    """Add to a choice every hunk that is decided together with it in a larger unit."""
    wider: dict[str, list[str] | None] = {}
    for path, ids in choice.items():
        draft = engine.documents.draft(path)
        if ids is None or draft is None or FILE_HUNK in ids:
            wider[path] = None if ids is None else list(ids)
        else:
            wider[path] = expand(draft.review, ids, unit)
    return wider


def split(
    engine: Engine, path: str, hunk: str, at: int, base_at: int | None = None, *, author: Author = PERSON
) -> DecisionResult:
    """Split a hunk in two that are decided separately. A new document cannot be split."""
    with engine.journal.lock():
        draft, ids = _choose_drafts(engine, {path: [hunk]}, of_agents=False)[0]
        if draft.kind == "created" or hunk == FILE_HUNK:
            raise Refused(f"{path} can only be accepted or rejected as a whole.", path=path, hunk_id=hunk)
        plan = Plan()
        _replace_draft(plan, draft, replace(draft, review=split_hunk(draft.review, hunk, at, base_at)))
        return _commit(engine, plan, "split", [(draft, ids)], author)


def _choose_drafts(engine: Engine, choice: Choice, *, of_agents: bool, turn: str = "") -> list[tuple[Draft, set[str]]]:
    found: list[tuple[Draft, set[str]]] = []
    for path, ids in choice.items():
        draft = engine.documents.draft(path)
        if draft is None:
            raise Refused(f"Nothing is pending in {path}.", code="hunk_not_found", path=path)
        wanted = _all_of(draft, of_agents=of_agents) if ids is None else set(ids)
        rest = wanted - {FILE_HUNK} if draft.kind != "modified" else wanted
        draft.review.require_hunks(rest)
        found.append((draft, wanted))
    if engine.settings.review == "turn":
        _check_whole_turns(engine, {draft.key: ids for draft, ids in found}, turn)
    return found


def _all_of(draft: Draft, *, of_agents: bool) -> set[str]:
    """Everything that can be decided at once. If everything is accepted, conflicts wait until they are settled."""
    wanted = set(draft.hunk_ids(of_agents=of_agents))
    if of_agents:
        return wanted
    decided = wanted - {hunk.id for hunk in draft.review.hunks if hunk.unsettled}
    return decided or wanted


def list_undecided_of_turn(engine: Engine, turn: TurnRecord) -> dict[str, list[str]]:
    """What is left to decide of a turn, by document."""
    waiting = ((draft.key, list_undecided_hunks(draft, turn)) for draft in engine.documents.drafts())
    return {path: ids for path, ids in waiting if ids}


def list_undecided_hunks(draft: Draft, turn: TurnRecord) -> list[str]:
    """What is left to decide in a document. A created document is one decision, which belongs to every turn that has a
    word in it."""
    if draft.kind == "created":
        return [FILE_HUNK] if turn.token in _tokens(draft, {FILE_HUNK}) else []
    about_file = draft.kind != "modified" and draft.turn == turn.token
    return [FILE_HUNK] * about_file + [hunk.id for hunk in draft.review.hunks if turn.token in hunk.turns]


def _check_whole_turns(engine: Engine, chosen: Mapping[str, set[str]], only: str) -> None:
    """Where turns are decided whole, require that a choice takes all that is left of a turn or nothing. If one is named
    (`only`), other turns that share its hunks are not decided with it."""
    for turn in engine.turns.proposals():
        if only not in ("", turn.token):
            continue
        left = list_undecided_of_turn(engine, turn)
        touched = any(chosen.get(path, set()).intersection(ids) for path, ids in left.items())
        whole = all(chosen.get(path, set()).issuperset(ids) for path, ids in left.items())
        if touched and not whole:
            message = f"turn {turn.id} must be decided as a whole ({', '.join(sorted(left))})."
            in_part = Forbidden(f'The settings say review = "turn": {message}', code="mode_refuses", turn=turn.id)
            in_part.hint = f'Decide turn {turn.id} as a whole, or set review = "hunk" in the settings.'
            raise in_part


def _check_base(draft: Draft, hashes: Mapping[str, str]) -> None:
    """Refuse if the file is not the one that the person was shown (agent-sidebar's `base_file_hash`)."""
    wanted = hashes.get(draft.key)
    if wanted is not None and wanted != content_hash(draft.saved or b""):
        raise Refused(
            f"{draft.key} was changed on disk since it was shown.",
            code="conflict",
            path=draft.key,
            base_file_hash=content_hash(draft.saved or b""),
        )


def _plan_files(plan: Plan, before: Draft, after: Draft, places: list[EditPosition] | None) -> bytes | None:
    """Plan what has to change on disk, and where; returns the bytes to write."""
    data = after.to_disk
    edits = None if places is None else dump_positions(places)
    old = None if before.saved is None else _content(before.saved, before)
    new = None if data is None else _content(data, after)
    here = None if before.base_path is None else DocPath(before.base_path)
    there = None if after.base_path is None or new is None else DocPath(after.base_path)
    if here is not None and here == there:
        if data != before.saved or places:  # a blank may take the place of another
            plan.files.append(FilePlan(here, old, new, before.mode, edits=edits))
        return data
    if there is not None:
        plan.files.append(FilePlan(there, None, new, before.mode, here))
    if here is not None:
        plan.files.append(FilePlan(here, old, None, before.mode))
    return data


def _content(data: bytes, draft: Draft) -> Content:
    return Content(data, Text(decode(data).text), draft.bom)


def _replace_draft(plan: Plan, before: Draft, after: Draft) -> None:
    if after.path is None and after.base_path is None:
        plan.drafts[before.key] = None
        return
    if after.key != before.key:
        plan.drafts[before.key] = None
    plan.put_draft(after)


def _commit(
    engine: Engine, plan: Plan, kind: str, chosen: list[tuple[Draft, set[str]]], author: Author, verb: str = ""
) -> DecisionResult:
    counts = {draft.key: len(ids) for draft, ids in chosen}
    if not any(counts.values()) and not plan.files:
        return DecisionResult(None, counts, {})
    tokens = {token for draft, ids in chosen for token in _tokens(draft, ids)}
    sources = [turn for turn in engine.turns.proposals() if turn.token in tokens]
    total, places = sum(counts.values()), [path for path, count in counts.items() if count]
    title = f"{verb or kind.capitalize()} {total} hunk{'s' if total != 1 else ''} in {', '.join(places or counts)}"
    arguments: dict[str, Any] = {draft.key: sorted(ids) for draft, ids in chosen}
    record = engine.commit(
        plan,
        author=author,
        kind=kind,
        title=title,
        source=max((turn.id for turn in sources), default=None),
        arguments=arguments,
    )
    update_proposals(engine)
    left = {path: len(draft.hunk_ids()) for path in counts if (draft := engine.documents.draft(path)) is not None}
    engine.events.tell("review.updated", paths=list(counts))
    return DecisionResult(record, counts, {path: left.get(path, 0) for path in counts})


def _tokens(draft: Draft, ids: set[str]) -> set[str]:
    whole = FILE_HUNK in ids and draft.kind != "deleted"
    tokens = {turn for part in draft.review.parts if whole or part.id in ids for turn in part.turns}
    return (tokens | {draft.turn} if FILE_HUNK in ids else tokens) - {""}


def update_proposals(engine: Engine) -> None:
    """Update the states of proposals: open while anything is undecided, then applied or discarded."""
    drafts = {path: engine.documents.draft_or_stored(path) for path in engine.reviews.paths()}
    standing = [draft for draft in drafts.values() if draft is not None and not draft.settled]
    # Also of what no hunk shows, where the person typed the old words again: any more typing there brings it back.
    waiting = {turn for draft in standing for turn in draft.review.turns}
    waiting |= {draft.turn for draft in standing if draft.kind != "modified"}
    with engine.database.transaction(durable=False):
        # What is not left of a draft must not come to life again with a turn that is closed by then.
        for path, draft in drafts.items():
            stored = engine.documents.load_stored_draft(path)
            if stored is None:
                continue
            if draft is None or draft.settled:
                engine.reviews.set(path, None)
            elif not stored.review.turns <= waiting:
                engine.reviews.set(path, engine.documents.to_image(draft))
        for turn in engine.turns.proposals():
            if turn.token not in waiting:
                engine.turns.mark(turn.id, State.APPLIED if is_partly_accepted(engine, turn) else State.DISCARDED)
        for turn in engine.turns.by_tokens(waiting - {""}):
            if turn.state is not State.PROPOSED and turn.kind == "propose":
                engine.turns.mark(turn.id, State.PROPOSED)  # its decision was undone, or a piece of it came back


def is_partly_accepted(engine: Engine, turn: TurnRecord) -> bool:
    """Whether a decision that stands accepted any part of the proposal, which is when its token left a review by being
    accepted."""
    rows = engine.database.rows(
        "SELECT review_steps.before, review_steps.after FROM review_steps JOIN turns ON turns.id = review_steps.turn"
        " WHERE turns.id > ? AND turns.kind = 'accept' AND turns.state = 'applied' AND instr(review_steps.before, ?)",
        (turn.id, turn.token),
    )
    return any(before.count(turn.token) > (after or "").count(turn.token) for before, after in rows)
