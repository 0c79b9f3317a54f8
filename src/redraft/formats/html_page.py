"""A document as one HTML page that needs nothing else: its pictures are in it, its style too, and there is no script.

Markdown is CommonMark with GFM's tables, strikethrough and task lists, and footnotes; HTML in it is sanitised, so that
of a hostile document only words and harmless tags come through. A picture from elsewhere becomes a link to it: nothing
is loaded when the page is opened, and a policy in the page holds a browser to that. Pure: pictures come from `embed`.
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

# A text with its changes marked, through markdown and out again: what goes is struck out, what comes is underlined.
#
# `marked` puts signs into the source around what would be taken out and what would be put in, line by line and behind
# whatever makes a line a heading, an item or a quotation, so that the lines mean what they meant. `tag_changes` turns
# the signs in the finished HTML into `<del>` and `<ins>`, closing and opening them around every other tag. Pure.


# Punctuation, as markdown sees it, that hardly any text has need of, then characters for private use; four that are not
# in the texts are taken.
RARE = "\u2e28\u2e29\u2e22\u2e23\u2e24\u2e25\u2e26\u2e27\u27ec\u27ed\u2983\u2984\u2985\u2986\u29d8\u29d9"
CANDIDATES = RARE + "".join(map(chr, range(0xE000, 0xE100)))
# What makes a line what it is; marks come behind it.
_LEAD = re.compile(r"[ \t]*(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])|#{1,6}(?=[ \t])|\|)[ \t]*)*(?:\[[ xX]\][ \t]+)?")
# Lines that are nothing but syntax: rules, underlines, fences, the line below a table's head.
_BARE = re.compile(r"[ \t]*(?:[-=*_][-=*_ \t]{2,}|`{3,}.*|~{3,}.*|[|: \t-]+)\Z")
_TAG = re.compile(r"<[^>]*>")


class ChangeMarkers(NamedTuple):
    """The characters that open and close what goes, and what comes."""

    gone: str
    gone_end: str
    new: str
    new_end: str


def choose_signs(*texts: str) -> ChangeMarkers:
    """Four signs that occur in none of the texts."""
    free = [sign for sign in CANDIDATES if not any(sign in text for text in texts)]
    if len(free) < len(ChangeMarkers._fields):
        raise Refused("The text already uses every character that could mark changes.", code="invalid_text")
    return ChangeMarkers(*free[: len(ChangeMarkers._fields)])


def mark_changes(old: str, new: str, signs: ChangeMarkers) -> str:
    """Both texts in one, with signs around what only one of them has: by words in a line that was rewritten, else by
    whole lines."""
    pieces: list[str] = []
    at = 0
    for region in diff_lines(old, new):
        pieces.append(old[at : region.at])
        before = old[region.at : region.until].splitlines(keepends=True)
        after = new[region.new_at : region.new_until].splitlines(keepends=True)
        for gone, come in _pair_lines(before, after):
            pieces.append(
                _mark_words(gone, come, signs) if gone and come else _mark_line(gone or come, signs, new=not gone)
            )
        at = region.until
    return "".join([*pieces, old[at:]])


def _pair_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Lines that are one line rewritten, together; the others by themselves, with "" for the side that lacks them."""
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
    """Whether half of the words stayed."""
    left, right = (Counter(word for word in tokens(line) if word.strip()) for line in (old, new))
    return 2 * (left & right).total() >= max(left.total(), right.total(), 1)


def _mark_words(old: str, new: str, signs: ChangeMarkers) -> str:
    """One line with the words that changed; whatever makes it a heading or an item is that of the new one."""
    body, come = old.rstrip("\r\n"), new.rstrip("\r\n")
    cut, lead = _lead(body), _lead(come)
    inner, at = [come[:lead]], cut
    for edit in word_edits(body[cut:], come[lead:]):
        gone = f"{signs.gone}{edit.old}{signs.gone_end}" if edit.old.strip() else edit.old
        put = f"{signs.new}{edit.new}{signs.new_end}" if edit.new.strip() else edit.new
        inner += [body[at : cut + edit.at], gone, put]
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
    """The page with the signs as tags, each within whatever other tags stand around it."""
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


# How much a parser of HTML has to do with a fragment, before one is let at it.
#
# Such a parser follows rules that make a lot of a little: for each tag it may go through all that is open, and words
# that were made bold and never ended are made so again in every paragraph. A document of some kilobytes can ask for
# gigabytes in this way. So what is open at most is counted here, and rather too high than too low: a tag counts as
# ended only where it was opened last and both are written plainly. Pure, and takes time by the length alone.


# Tags times what is open among them. So many take about half a gigabyte and a few seconds at the worst; a page as long
# as one may be, with a tag for every ten characters, reaches it where twenty are open within each other.
MOST = 4_000_000
_PLAIN = r"""(?:\s++[a-z_:][\w.:-]*+(?:\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'=<>`]++))?+)*+\s*+/?>"""
_PIECE = re.compile(
    rf"<(?P<opened>[a-z][a-z0-9-]*+){_PLAIN}|</(?P<ended>[a-z][a-z0-9-]*+)\s*+>|(?P<comment><!--)|(?P<until>-->)|<[a-z!?/]",
    re.IGNORECASE,
)
# Nothing stands in them, or they end by themselves where the next one begins, and words in them do so, too.
_NEVER_OPEN = frozenset(
    {"area", "br", "col", "hr", "img", "input", "wbr", "p", "li", "dt", "dd", "tr", "thead", "tbody", "tfoot"}
)
# Within these, everything is like any other tag.
_FOREIGN = frozenset({"svg", "math"})
_COMMENT, _ODD = "<!--", "<"


def check_nesting(html: str) -> None:
    """`too_large` where it would take too much to parse this."""
    tags, depth = tags_and_depth(html)
    if tags * depth > MOST:
        raise Refused("The HTML in this document is nested too deeply for a page.", code="too_large", limit=MOST)


def tags_and_depth(html: str) -> tuple[int, int]:
    """How many tags there are, and how many of them are open at most."""
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
# Characters of all pictures in a page; one that is shown often is in it as often.
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
    """The page of a markdown document; `name` is its title where it says none itself. With `proposed`, what that
    text would change is marked."""
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
    """The page of a document that is no markdown: its text as it is written. `proposed` as for markdown."""
    if proposed is not None:
        signs = choose_signs(text, proposed)
        return add_note(tag_changes(plain_page(mark_changes(text, proposed, signs), name), signs))
    return _page(name, f"<pre>{escape(text)}</pre>")


def add_note(page: str) -> str:
    """The page of marked changes, which says so."""
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
    """Shared: nothing in it changes by parsing."""
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
    """Note of each picture whether it stands in a link."""
    for token in tokens:
        depth = 0
        for each in token.children or ():
            if each.type in ("link_open", "link_close"):
                depth += each.nesting
            elif each.type == "image":
                each.meta["linked"] = depth > 0


def _image(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Mapping[str, Any]) -> str:
    """A picture of the folder as one; any other as a link to it, or as its words where a link stands already."""
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
    """What of a fragment is harmless, its pictures embedded."""
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
        # Whatever else an input was meant to be, here it is a box.
        set_tag_attribute_values={"input": {"type": "checkbox"}},
        url_schemes=SCHEMES,
        link_rel="noreferrer",
    )
