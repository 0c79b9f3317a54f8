"""A document as a page: its words and pictures, and nothing that runs or loads."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.html_page import MAX_PICTURES, POLICY, markdown_page, plain_page

if TYPE_CHECKING:
    from pathlib import Path

PICTURE = "data:image/png;base64,AAAA"


def embed(source: str) -> str | None:
    return PICTURE if source == "lamp.png" else None


def body(markdown: str) -> str:
    found = re.search(r"<main>\n(.*)</main>", markdown_page(markdown, "note", embed), re.DOTALL)
    assert found
    return found[1]


class _Seen(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


FORBIDDEN = {"script", "iframe", "object", "embed", "form", "meta", "link", "base", "svg", "math", "video", "audio"}


def check_harmless(html: str) -> None:
    for tag, attrs in _Seen(html).tags:
        assert tag not in FORBIDDEN
        for name, value in attrs.items():
            assert not name.startswith("on")
            assert name not in ("srcset", "background", "poster", "formaction", "ping")
            if name == "src":
                assert value == PICTURE
            if name == "href":
                scheme = re.match(r"[\x00-\x20]*([A-Za-z][\w+.\s-]*):", value or "")
                assert scheme is None or scheme[1].lower() in ("http", "https", "mailto")


def test_markdown_becomes_the_tags_that_it_means():
    found = body(
        "# A *b*\n\n- [x] done\n- [ ] open\n\n~~no~~ `code`\n\n|a|b|\n|-|-:|\n|1|2|\n\n```python\nx < 1\n```\n"
    )
    for part in (
        '<h1 id="a-b">A <em>b</em></h1>',
        '<input checked="checked" disabled="disabled" type="checkbox"> done',
        "<s>no</s> <code>code</code>",
        '<td style="text-align:right">2</td>',
        '<code class="language-python">x &lt; 1\n</code>',
    ):
        assert part in found


def test_a_footnote_stands_at_the_foot_and_links_lead_there_and_back():
    found = body("Word[^1].\n\n[^1]: The note.\n")
    assert 'href="#fn1" id="fnref1"' in found
    assert '<li id="fn1"><p>The note. <a href="#fnref1"' in found


@pytest.mark.parametrize(
    ("markdown", "title"),
    [
        ("---\ntitle: From <b>front</b>matter\n---\n# Heading\n", "From &lt;b&gt;front&lt;/b&gt;matter"),
        ("# The *real* title\n", "The real title"),
        ("+++\ntitle = 'x'\n+++\nWords.\n", "note"),
        ("## Only a section\n", "note"),
    ],
)
def test_the_title_is_what_the_document_calls_itself(markdown: str, title: str):
    page = markdown_page(markdown, "note", embed)
    assert f"<title>{title}</title>" in page
    assert "title:" not in page.partition("<main>")[2]


def test_a_picture_of_the_folder_is_in_the_page_and_one_from_elsewhere_is_a_link():
    assert f'<img src="{PICTURE}" alt="A lamp" title="t">' in body('![A lamp](lamp.png "t")')
    assert f'<img src="{PICTURE}">' in body("<img src=lamp.png onerror=alert(1)>")
    assert body("![A lamp](https://x.org/a.png)") == (
        '<p><a href="https://x.org/a.png" rel="noreferrer">A lamp</a></p>\n'
    )
    badge = body("[![Badge](https://x.org/b.svg)](https://y.org)")
    assert badge == '<p><a href="https://y.org" rel="noreferrer">Badge</a></p>\n'


def test_the_page_holds_a_browser_to_loading_nothing():
    page = markdown_page("Words.\n", "note", embed)
    assert f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' in page
    assert page.index("Content-Security-Policy") < page.index("<title>")


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1) srcset='https://e/x 2x'>",
    "[x](javascript:alert(1))",
    "<a href='data:text/html,<script>1</script>'>x</a>",
    "<meta http-equiv=refresh content='0;url=https://e'>",
    "<svg><script>1</script></svg>",
    "<table background='https://e/x.png'><tr><td>x",
    "<p style='background:url(https://e/x.png)'>x</p>",
    "<td style='text-align:left;background:url(https://e)'>",
    "</main><base href='https://e/'>",
    "<iframe srcdoc='<script>1</script>'></iframe>",
    "<form action='https://e'><input name=a formaction='https://e'></form>",
    "<noscript><p title='</noscript><img src=x onerror=1>'>",
    "![x](<lamp.png> \"a' onerror='1\")",
    "`` ` ``<style>@import 'https://e'</style>",
]


@pytest.mark.parametrize("markdown", HOSTILE)
def test_nothing_of_a_hostile_document_runs_or_loads(markdown: str):
    check_harmless(body(markdown))


@given(st.lists(st.sampled_from([*HOSTILE, "<", ">", '"', "'", "\n", "\n\n", "> ", "- ", "`", "a"]), max_size=8))
def test_nothing_of_any_mixture_runs_or_loads(parts: list[str]):
    check_harmless(body("".join(parts)))


def test_a_plain_text_is_shown_as_it_is_written():
    assert "<pre>a &lt;b&gt;\n  c\n</pre>" in plain_page("a <b>\n  c\n", "x.txt")


def test_pages_of_the_examples_of_commonmark_are_harmless(material: Path):
    examples = json.loads((material / "commonmark" / "spec-0.31.2.json").read_text(encoding="utf-8"))
    for example in examples:
        check_harmless(body(example["markdown"]))


def test_a_picture_that_is_shown_too_often_is_left_out_in_the_end():
    large = PICTURE + "A" * (MAX_PICTURES // 4)
    page = markdown_page("![a](lamp.png)\n" * 20, "note", lambda _: large)
    assert page.count(large) == 3
    assert page.count('alt="a"') == 20


def test_a_picture_in_a_link_is_words_and_one_after_it_a_link():
    found = body("[![a](https://x.org/1)](https://x.org/2) ![b](https://x.org/3)")
    assert 'href="https://x.org/1"' not in found
    assert 'href="https://x.org/3"' in found
