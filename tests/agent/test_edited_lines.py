"""Which of a job's edits touch a hunk: what looking at every edit finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from redraft.agent.run.job_review import EditedLines

SPANS = st.lists(st.tuples(st.integers(1, 20), st.integers(-1, 6)) | st.none(), max_size=8)


@given(SPANS, st.integers(0, 25), st.integers(0, 4))
def test_the_edits_that_touch_a_hunk_are_found_by_their_lines(
    spans: list[tuple[int, int] | None], line: int, length: int
) -> None:
    edits = [
        {"edit_id": f"e_{number}", **({} if span is None else {"start_line": span[0], "end_line": sum(span)})}
        for number, span in enumerate(spans)
    ]
    until = line + max(length, 1)
    touched = [
        f"e_{number}"
        for number, span in enumerate(spans)
        if span is not None and span[0] - 1 <= until and line <= max(sum(span), span[0] - 1)
    ]
    assert EditedLines(edits).ids_at(line, "words\n" * length) == touched
