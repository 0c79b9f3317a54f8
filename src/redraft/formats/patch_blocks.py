"""An agent's answer: patch blocks, one for each component that it changes, and the text around them.

    <!-- patch:status -->
    Done.
    <!-- /patch:status -->

Within a block only its own end counts, so an answer may speak about other blocks; markers in code are text. A block
that is never closed means that the answer was cut off, and nothing of it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import Refused
from redraft.formats.components import markers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redraft.formats.components import Marker


@dataclass(frozen=True, slots=True)
class PatchBlock:
    """What an answer has to say in one component."""

    component: str
    content: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, taken apart. `unmatched` is the text outside every block, "" where there is only white space."""

    patches: tuple[PatchBlock, ...]
    unmatched: str

    def by_component(self) -> dict[str, str]:
        """What is to come into each component; several blocks for one come one after the other."""
        joined: dict[str, str] = {}
        for patch in self.patches:
            before = joined.get(patch.component)
            joined[patch.component] = patch.content if before is None else _after(before, patch.content)
        return joined


def parse_answer(text: str) -> Answer:
    """The patches and the rest; `model_output_cut_off` where a block is never closed."""
    answer = _parsed(text, markers(text, "patch"))
    if answer is None:  # a fence that one block leaves open may hide the end of it
        answer = _parsed(text, markers(text, "patch", in_code=True))
    if answer is None:
        raise Refused("The answer ends within a patch block; nothing of it was used.", code="model_output_cut_off")
    return answer


def _parsed(text: str, found: Iterable[Marker]) -> Answer | None:
    patches: list[PatchBlock] = []
    around: list[str] = []
    at = 0
    opened: Marker | None = None
    for marker in found:
        if opened is None and not marker.is_close:
            around.append(text[at : marker.start])
            opened = marker
        elif opened is not None and marker.is_close and marker.name == opened.name:
            patches.append(PatchBlock(opened.name, text[opened.end : marker.start]))
            opened, at = None, marker.end
    if opened is not None:
        return None
    around.append(text[at:])
    unmatched = "\n\n".join(piece.strip("\r\n") for piece in around if piece.strip())
    return Answer(tuple(patches), unmatched)


def _after(before: str, content: str) -> str:
    gap = "" if before.endswith(("\n", "\r")) or content.startswith(("\n", "\r")) else "\n"
    return before + gap + (content.removeprefix("\r").removeprefix("\n") if before.endswith("\n") else content)
