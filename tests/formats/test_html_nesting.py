"""How much HTML asks of a parser is known before one is let at it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import nh3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.formats.html_page import MOST, check_nesting, markdown_page, tags_and_depth

VOID = {"area", "br", "col", "hr", "img", "input", "wbr"}
BOLD = "".join(f'<b id="{number}">' for number in range(3000))
# For each a parser takes a minute, a gigabyte, or more than there is.
BOMBS = {
    "blocks within each other": "<div>" * 30_000,
    "bold in every paragraph": f"<p>{BOLD}x</p>" + "<p>a</p>" * 3000,
    "ended where it does not count": f"<p>{BOLD.replace('>', '><object></b></object>')}" + "<p>a</p>" * 3000,
    "ended in a comment": f"<p>{BOLD.replace('>', '><!--</b>-->')}" + "<p>a</p>" * 3000,
    "ended in an attribute": f"""<p>{BOLD.replace(">", '><br title="></b>">')}""" + "<p>a</p>" * 3000,
    "foreign": "<svg>" + "<tr>" * 3000 + "</q>" * 3000,
}
PIECES = [
    *("<b>", "</b>", "<i x=1>", "</i>", "<div>", "</div>", "<p>", "</p>", "<ul>", "</ul>", "<li>", "</li>", "<br>"),
    *("<table>", "</table>", "<tr>", "<td>", "</td>", "<a href='x'>", "</a>", "<object>", "</object>", "a", " ", "\n"),
    *(
        "<!--",
        "-->",
        "<!-->",
        "--!>",
        '"',
        "'",
        "<br title=",
        ">",
        "<",
        "<svg>",
        "</svg>",
        "<!x>",
        "</q>",
        "<h1>",
        "</h1>",
    ),
]
TAGS = {word for piece in PIECES for word in re.findall(r"[a-z]\w*", piece)} - {"href", "title", "x"}


class _Depth(HTMLParser):
    """How many tags a well-formed page has open at most, and how many there are."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.now = self.most = self.tags = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags += 1
        self.now += tag not in VOID
        self.most = max(self.most, self.now)

    def handle_endtag(self, tag: str) -> None:
        self.now -= tag not in VOID


@pytest.mark.parametrize("html", BOMBS.values(), ids=BOMBS)
def test_what_would_take_too_much_is_refused_before_it_is_parsed(html: str):
    with pytest.raises(Refused) as refused:
        markdown_page(html, "note", lambda _: None)
    assert refused.value.code == "too_large"


def test_a_long_page_that_is_well_formed_passes():
    row = '<tr><td><a href="x.md">a</a></td><td><b>b</b><br>c</td></tr>\n'
    check_nesting(f"<!-- a table --><table>{row * 20_000}</table>" + "<p>a<ul><li>b<li>c</ul>" * 20_000)


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_a_parser_never_makes_more_of_it_than_was_counted(html: str):
    tags, depth = tags_and_depth(html)
    made = _Depth(nh3.clean(html, tags=TAGS))
    # A table brings a body and a row along, a list its items.
    assert made.most <= 4 * (depth + 1)
    assert made.tags <= 4 * (tags + 1) * (depth + 1)


@pytest.mark.parametrize(
    "piece", ["<a ", "<a b=", '<a b="', "<", "<!--", "-->", "</a ", f"<a{' b' * 500}", f"<a{' ' * 500}"]
)
def test_counting_takes_no_longer_for_what_never_ends(piece: str):
    tags, _ = tags_and_depth(piece * (400_000 // len(piece)))
    assert tags <= 400_000 < MOST
