"""A document as one HTML page that needs nothing else: its pictures are in it, its style too, and there is no script.

Markdown is CommonMark with GFM's tables, strikethrough and task lists, and footnotes; HTML in it is sanitised, so that
of a hostile document only words and harmless tags come through. A picture from elsewhere becomes a link to it: nothing
is loaded when the page is opened, and a policy in the page holds a browser to that. Pure: pictures come from `embed`.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from redraft.formats.frontmatter import fields
from redraft.formats.html_nesting import check_nesting
from redraft.formats.rich.reading import head_end

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    # The data: address of a picture that a document names, None where the folder has none.
    Embed = Callable[[str], str | None]

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


def markdown_page(text: str, name: str, embed: Embed) -> str:
    """The page of a markdown document; `name` is its title where it says none itself."""
    parser = _parser()
    env: dict[str, Any] = {"embed": embed}
    head = head_end(text)
    tokens = parser.parse(text[head:].removeprefix("\ufeff"), env)
    _mark_linked(tokens)
    title = fields(text[:head]).get("title") or _first_heading(tokens) or name
    return _page(title, _cleaned(parser.renderer.render(tokens, parser.options, env), embed))


def plain_page(text: str, name: str) -> str:
    """The page of a document that is no markdown: its text as it is written."""
    return _page(name, f"<pre>{escape(text)}</pre>")


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


def _cleaned(html: str, embed: Embed) -> str:
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

    def kept(tag: str, attribute: str, value: str) -> str | None:
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
        attribute_filter=kept,
        filter_style_properties={"text-align"},
        # Whatever else an input was meant to be, here it is a box.
        set_tag_attribute_values={"input": {"type": "checkbox"}},
        url_schemes=SCHEMES,
        link_rel="noreferrer",
    )
