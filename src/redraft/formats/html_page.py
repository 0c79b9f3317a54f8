"""A document as one self-contained HTML page, with its pictures and its style in it, and without scripts.

Markdown is CommonMark with GFM's tables, strikethrough and task lists, and footnotes; HTML in it is sanitised, so that
only the words and harmless tags of a hostile document come through. An external picture becomes a link: nothing
is loaded when the page is opened, and a content security policy enforces that. Pure: pictures come from `embed`.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from redraft.errors import Refused
from redraft.formats.frontmatter import fields
from redraft.formats.rich.parser import head_end
from redraft.text.diff.line_diff import diff_lines
from redraft.text.diff.word_diff import tokens, word_edits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    Embed = Callable[[str], str | None]

# A text with its changes marked, through markdown and out again: deletions are struck out, insertions underlined.
#
# `mark_changes` puts marker characters into the source around deletions and insertions, line by line and after whatever
# makes a line a heading, an item or a quotation, so that the lines keep their meaning. `tag_changes` turns the markers
# in the finished HTML into `<del>` and `<ins>`, closing and opening them around every other tag. Pure.


# Characters that markdown treats as punctuation and hardly any text uses, then private-use characters; four that do
# not occur in the texts are chosen.
RARE = "\u2e28\u2e29\u2e22\u2e23\u2e24\u2e25\u2e26\u2e27\u27ec\u27ed\u2983\u2984\u2985\u2986\u29d8\u29d9"
CANDIDATES = RARE + "".join(map(chr, range(0xE000, 0xE100)))
# What makes a line what it is; markers come after it.
_LEAD = re.compile(r"[ \t]*(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])|#{1,6}(?=[ \t])|\|)[ \t]*)*(?:\[[ xX]\][ \t]+)?")
# Lines that are only syntax: rules, underlines, fences, the line below a table's head.
_BARE = re.compile(r"[ \t]*(?:[-=*_][-=*_ \t]{2,}|`{3,}.*|~{3,}.*|[|: \t-]+)\Z")
_TAG = re.compile(r"<[^>]*>")


class ChangeMarkers(NamedTuple):
    """The characters that open and close deletions and insertions."""

    gone: str
    gone_end: str
    new: str
    new_end: str


def choose_signs(*texts: str) -> ChangeMarkers:
    """Four characters that occur in none of the texts."""
    free = [sign for sign in CANDIDATES if not any(sign in text for text in texts)]
    if len(free) < len(ChangeMarkers._fields):
        raise Refused("The text already uses every character that could mark changes.", code="invalid_text")
    return ChangeMarkers(*free[: len(ChangeMarkers._fields)])


def mark_changes(old: str, new: str, signs: ChangeMarkers) -> str:
    """Both texts in one, with markers around what only one of them has: word by word in a rewritten line, else by whole
    lines."""
    pieces: list[str] = []
    at = 0
    for region in diff_lines(old, new):
        pieces.append(old[at : region.at])
        before = old[region.at : region.until].splitlines(keepends=True)
        after = new[region.new_at : region.new_until].splitlines(keepends=True)
        for removed, added in _pair_lines(before, after):
            pieces.append(
                _mark_words(removed, added, signs)
                if removed and added
                else _mark_line(removed or added, signs, new=not removed)
            )
        at = region.until
    return "".join([*pieces, old[at:]])


def _pair_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of an old line and its rewritten form; other lines alone, with "" for the missing side."""
    at = 0
    for line in new:
        match = next((place for place in range(at, len(old)) if _is_alike(old[place], line)), None)
        if match is None:
            yield "", line
            continue
        yield from ((gone, "") for gone in old[at:match])
        yield old[match], line
        at = match + 1
    yield from ((gone, "") for gone in old[at:])


def _is_alike(old: str, new: str) -> bool:
    """Whether half of the words are the same."""
    left, right = (Counter(word for word in tokens(line) if word.strip()) for line in (old, new))
    return 2 * (left & right).total() >= max(left.total(), right.total(), 1)


def _mark_words(old: str, new: str, signs: ChangeMarkers) -> str:
    """One line with the changed words marked; heading and list markers are those of the new line."""
    body, come = old.rstrip("\r\n"), new.rstrip("\r\n")
    cut, lead = _lead(body), _lead(come)
    inner, at = [come[:lead]], cut
    for edit in word_edits(body[cut:], come[lead:]):
        removed = f"{signs.gone}{edit.old}{signs.gone_end}" if edit.old.strip() else edit.old
        put = f"{signs.new}{edit.new}{signs.new_end}" if edit.new.strip() else edit.new
        inner += [body[at : cut + edit.at], removed, put]
        at = cut + edit.at + len(edit.old)
    return "".join([*inner, body[at:]]) + new[len(come) :]


def _mark_line(line: str, signs: ChangeMarkers, *, new: bool) -> str:
    body = line.rstrip("\r\n")
    cut = _lead(body)
    if not body[cut:].strip() or _BARE.match(body):
        return line
    opening, closing = (signs.new, signs.new_end) if new else (signs.gone, signs.gone_end)
    end = line[len(body) :] or "\n"
    return f"{body[:cut]}{opening}{body[cut:]}{closing}{end}"


def _lead(line: str) -> int:
    found = _LEAD.match(line)
    return found.end() if found is not None else 0


def tag_changes(html: str, signs: ChangeMarkers) -> str:
    """The page with the markers as tags, each nested within the tags around it."""
    tags = {signs.gone: "del", signs.new: "ins", signs.gone_end: "", signs.new_end: ""}
    head, body, rest = html.partition("<body>")
    pieces = [_strip_signs(head, signs), body]
    tag = ""
    for piece in re.split(f"({_TAG.pattern}|[{''.join(signs)}])", rest):
        if piece in tags:
            tag = tags[piece]
        elif piece.startswith("<"):
            pieces.append(_strip_signs(piece, signs))
        elif piece:
            pieces.append(f"<{tag}>{piece}</{tag}>" if tag and piece.strip() else piece)
    return "".join(pieces)


def _strip_signs(text: str, signs: ChangeMarkers) -> str:
    return text.translate(dict.fromkeys(map(ord, "".join(signs))))


# How much work an HTML parser has with a fragment, checked before it is parsed.
#
# The rules of such a parser amplify: for each tag it may go through everything that is open, and unclosed bold text is
# made bold again in every paragraph. A document of some kilobytes can take gigabytes in this way. So the maximum of
# open tags is counted here, and rather too high than too low: a tag counts as closed only if it was opened last and
# both tags are written plainly. Pure, in linear time.


# Tags times open tags. This many take about half a gigabyte and a few seconds in the worst case; a page of the maximum
# length, with a tag for every ten characters, reaches it with twenty nested tags.
MOST = 4_000_000
_PLAIN = r"""(?:\s++[a-z_:][\w.:-]*+(?:\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'=<>`]++))?+)*+\s*+/?>"""
_PIECE = re.compile(
    rf"<(?P<opened>[a-z][a-z0-9-]*+){_PLAIN}|</(?P<ended>[a-z][a-z0-9-]*+)\s*+>|(?P<comment><!--)|(?P<until>-->)|<[a-z!?/]",
    re.IGNORECASE,
)
# Void elements, or elements that the next one closes, together with the text formatting in them.
_NEVER_OPEN = frozenset(
    {"area", "br", "col", "hr", "img", "input", "wbr", "p", "li", "dt", "dd", "tr", "thead", "tbody", "tfoot"}
)
# Inside these, every tag counts.
_FOREIGN = frozenset({"svg", "math"})
_COMMENT, _ODD = "<!--", "<"


def check_nesting(html: str) -> None:
    """Raise `too_large` if this would take too much to parse."""
    tags, depth = tags_and_depth(html)
    if tags * depth > MOST:
        raise Refused("The HTML in this document is nested too deeply for a page.", code="too_large", limit=MOST)


def tags_and_depth(html: str) -> tuple[int, int]:
    """The number of tags, and the maximum of open ones."""
    tags = depth = 0
    open_now: list[str] = []
    never_open = _NEVER_OPEN
    for piece in _PIECE.finditer(html):
        tags += 1
        if piece["opened"]:
            name = piece["opened"].lower()
            if name in _FOREIGN:
                never_open = frozenset[str]()
            if name not in never_open:
                open_now.append(name)
        elif piece["ended"] or piece["until"]:
            ended = _COMMENT if piece["until"] else piece["ended"].lower()
            if open_now and open_now[-1] == ended:
                open_now.pop()
        else:
            open_now.append(_COMMENT if piece["comment"] else _ODD)
        depth = max(depth, len(open_now))
    return tags, depth


MARKED = "Proposed changes are marked: <del>deletions</del>, <ins>insertions</ins>. They have not been accepted yet."
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
# The most characters of all pictures in a page; a picture that is used twice counts twice.
MAX_PICTURES = 40 * 1024 * 1024
SCHEMES = {"http", "https", "mailto"}
CLASSES = frozenset({"footnotes", "footnotes-list", "footnote-ref", "task-list-item", "contains-task-list"})
STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; font: 17px/1.6 ui-serif, Charter, Georgia, "Noto Serif", serif; color: #1f2421; background: #fff; }
main { max-width: 42rem; margin: 0 auto; padding: 3rem 1.25rem; overflow-wrap: break-word; }
h1, h2, h3, h4, h5, h6 { font-family: ui-sans-serif, system-ui, sans-serif; line-height: 1.25; margin: 1.8em 0 .6em; }
h1 { margin-top: 0; font-size: 2em; } h2 { font-size: 1.5em; } h3 { font-size: 1.2em; } h4, h5, h6 { font-size: 1em; }
a { color: #2a5c4e; } img { max-width: 100%; height: auto; }
hr { border: 0; border-top: 1px solid #dfdbd1; margin: 2em 0; }
blockquote { margin: 1em 0; padding-left: 1em; border-left: 3px solid #dfdbd1; color: #59615c; }
code, pre { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .88em; }
pre { padding: .8em 1em; border: 1px solid #dfdbd1; border-radius: 6px; white-space: pre-wrap; }
del { color: #8c2f2f; } ins { color: #1d6b3f; } .note { font-size: .88em; border-left: 3px solid; padding-left: 1em; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #dfdbd1; padding: .35em .7em; }
ul.contains-task-list { list-style: none; padding-left: 1.2em; } .footnotes { font-size: .88em; }
@media (prefers-color-scheme: dark) {
  body { color: #e8ece9; background: #141816; } a { color: #86cbb5; } blockquote { color: #a6b0aa; }
}
@media print {
  body { font-size: 11pt; color: #000; background: #fff; } main { max-width: none; padding: 0; }
  h1, h2, h3, h4 { break-after: avoid; } pre, table, img, blockquote { break-inside: avoid; }
}
"""


def markdown_page(text: str, name: str, embed: Embed, proposed: str | None = None) -> str:
    """The page of a markdown document; `name` is the title if the text has none. With `proposed`, the changes to that
    text are marked."""
    parser = _parser()
    env: dict[str, Any] = {"embed": embed}
    head = head_end(text)
    if proposed is not None:
        signs = choose_signs(text, proposed)
        body = mark_changes(text[head:], proposed[head_end(proposed) :], signs)
        inner = markdown_page(text[:head] + body, name, embed)
        return add_note(tag_changes(inner, signs))
    tokens = parser.parse(text[head:].removeprefix("\ufeff"), env)
    _mark_linked(tokens)
    title = fields(text[:head]).get("title") or _first_heading(tokens) or name
    return _page(title, _sanitise(parser.renderer.render(tokens, parser.options, env), embed))


def plain_page(text: str, name: str, proposed: str | None = None) -> str:
    """The page of a document that is not markdown: its text as it is. `proposed` as for markdown."""
    if proposed is not None:
        signs = choose_signs(text, proposed)
        return add_note(tag_changes(plain_page(mark_changes(text, proposed, signs), name), signs))
    return _page(name, f"<pre>{escape(text)}</pre>")


def add_note(page: str) -> str:
    """The page of marked changes, with a note that explains them."""
    return page.replace("<main>\n", f'<main>\n<p class="note">{MARKED}</p>\n', 1)


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


@cache
def _parser() -> MarkdownIt:
    """Shared: parsing does not change it."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.anchors import anchors_plugin
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.tasklists import tasklists_plugin

    made = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    made.use(footnote_plugin).use(tasklists_plugin).use(anchors_plugin, max_level=6)
    made.add_render_rule("image", _image)
    made.add_render_rule("footnote_block_open", lambda *_: '<hr>\n<section class="footnotes">\n<ol>\n')
    return made


def _first_heading(tokens: Sequence[Token]) -> str:
    for number, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h1":
            return "".join(each.content for each in tokens[number + 1].children or () if not each.nesting).strip()
    return ""


def _mark_linked(tokens: Sequence[Token]) -> None:
    """Note for each picture whether it is in a link."""
    for token in tokens:
        depth = 0
        for each in token.children or ():
            if each.type in ("link_open", "link_close"):
                depth += each.nesting
            elif each.type == "image":
                each.meta["linked"] = depth > 0


def _image(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Mapping[str, Any]) -> str:
    """A picture of the folder as a picture; any other as a link to it, or as its description inside another link."""
    token = tokens[at]
    source, title = str(token.attrs.get("src", "")), str(token.attrs.get("title", ""))
    words = escape(renderer.renderInlineAsText(token.children or (), options, env))
    found: str | None = env["embed"](source)
    if found is not None:
        titled = f' title="{escape(title)}"' if title else ""
        return f'<img src="{escape(source)}" alt="{words}"{titled}>'
    words = words or "picture"
    return words if token.meta["linked"] else f'<a href="{escape(source)}">{words}</a>'


def _sanitise(html: str, embed: Embed) -> str:
    """The harmless part of a fragment, with its pictures embedded."""
    import nh3

    check_nesting(html)

    room = MAX_PICTURES

    def picture(source: str) -> str | None:
        nonlocal room
        found = embed(source)
        if found is None or len(found) > room:
            return None
        room -= len(found)
        return found

    def keep_attribute(tag: str, attribute: str, value: str) -> str | None:
        if (tag, attribute) == ("img", "src"):
            return picture(value)
        if attribute == "class":
            words = [word for word in value.split() if word in CLASSES or re.fullmatch(r"language-[\w+#-]{1,40}", word)]
            return " ".join(words) or None
        return value

    attributes = {tag: set(names) for tag, names in nh3.ALLOWED_ATTRIBUTES.items()}
    for tag in ("code", "ul", "ol", "li", "section", "sup"):
        attributes.setdefault(tag, set()).add("class")
    for tag in ("a", "li", "img", "td", "th", *(f"h{level}" for level in range(1, 7))):
        more = {"title"} if tag == "img" else {"style"} if tag in ("td", "th") else {"id"}
        attributes[tag] = attributes.get(tag, set()) | more
    attributes["input"] = {"checked", "disabled"}
    return nh3.clean(
        html,
        tags=nh3.ALLOWED_TAGS | {"input", "section"},
        attributes=attributes,
        attribute_filter=keep_attribute,
        filter_style_properties={"text-align"},
        # Whatever kind of input it was, here it is a checkbox.
        set_tag_attribute_values={"input": {"type": "checkbox"}},
        url_schemes=SCHEMES,
        link_rel="noreferrer",
    )
