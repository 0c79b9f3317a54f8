"""Search and quote: where something is mentioned, literally, or by meaning within a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redraft.agent.offline.documents import (
    best_matches,
    find_document,
    is_everything,
    is_this,
    list_files,
    resolve_folder,
)
from redraft.agent.offline.intents import Intent, ScriptEnd, call, parse_patterns, perform, pluralize, quote_query
from redraft.agent.offline.topics import closeness

if TYPE_CHECKING:
    from redraft.agent.offline.intents import Script, ScriptCall, ScriptContext, ScriptOutcome, SlotValues

MAX_DOCUMENTS = 20
# How many documents are searched for exact lines, beyond the snippets of the folder search.
LOOKED_INTO = 5
MAX_QUOTES = 5
QUOTE = 160
# Passages of different documents that are shown if none contains the words, and how similar they have to be.
NEAREST, FAR = 3, 0.2

PATTERNS = parse_patterns("""
(find|search|locate|look|grep|hunt) [down] [for] [every] \
 [(mention|occurrence|instance|use|place|word|phrase|text)] [of] <query> [(in|inside|within|across) <doc>] \
 => how=words
search [in|inside|within|through] <doc> for <query> => how=words
look [in|inside|through] <doc> for <query> => how=words
[(find|show|tell|see|know|check)] where [(is|are|was|were|do|does|did)] [(i|we|you)] <query> \
 (mentioned|mention|appear|occur|show up|come up|used|said|written|talk about|write about|named) \
 [(in|inside|within) <doc>] => how=words
[in] (which|what) (document|file|note|chapter|page) (is|are|does|do) [there] [about] <query> \
 [(mentioned|appear|occur|stand)] => how=words
where can (i|we) find <query> [(in|inside|within) <doc>] => how=words
(does|do) <doc> (mention|contain|say|include|have) <query> => how=words
find me <query> [(in|inside|within) <doc>] => how=words
how (often|many times) (is|are|does|do) word <query> [(mentioned|appear|occur|used|come up)] [(in|inside|within) \
 <doc>] => how=words
(is|are) <query> (mentioned|named|said|used) [(in|inside|within) <doc>] => how=words
what is (said|written|known) (about|on|of) <query> [(in|inside|within) <doc>] => how=meaning
(find|show|list) [every] place where <query> (is|are) (mentioned|used|named) [(in|inside|within) <doc>] => how=words
look up <query> [(in|inside|within) <doc>] => how=words
where (is|are|does|do|did) <query> [(in|inside|within) <doc>] => how=words
[(find|show|tell|see)] where (do|did|have) [(i|we|you)] (mention|use|say|write|name|write about|talk about) \
 <query> [(in|inside|within) <doc>] => how=words
[(find|show|list|give|get|quote)] [every] (mention|occurrence|instance|line) \
 [of|with|containing|where|mentioning] <query> [(in|inside|within|across) <doc>] => how=words
(which|what) (document|file|note|chapter|page) (mention|contain|say|include|use|have|talk about|speak of) <query> \
 => how=words
(do|did) (i|we) (say|write|have|note|mention) (anything|something) (about|on|of) <query> [(in|inside) <doc>] \
 => how=meaning
(is|are) there (anything|something|mention) [(about|on|of|regarding)] <query> [(in|inside|within) <doc>] \
 => how=meaning
[do i have|have i written|did i write|is there] (anything|something) (about|on|regarding) <query> \
 [(in|inside|within) <doc>] => how=meaning
(find|show|quote|search|get|look|give) [for] [(passage|part|paragraph|section|place|note|text|something|anything| \
 everything|line|bit|quote)] (about|on|regarding|concerning|related to|dealing with|that deal with|that talk \
 about) <query> [(in|inside|within|from) <doc>] => how=meaning
what (do|did|does) [(i|we|you|it|they|notes|documents)] (say|write|note|know) (about|on|regarding) <query> \
 [(in|inside|within) <doc>] => how=meaning
what does <doc> say (about|on|regarding) <query> => how=meaning
quote [(what|passage|line|part)] [(is said|i say|i wrote|that mention)] [(about|on|of)] <query> [(in|inside|from) \
 <doc>] => how=meaning
how (often|many times) (is|are|does|do) <query> [(mentioned|appear|occur|used|come up)] [(in|inside|within) \
 <doc>] => how=words
count [(occurrence|mention)] <query> [(in|inside|within) <doc>] => how=words
""")


def script(slots: SlotValues, context: ScriptContext) -> Script:
    query, where = slots["query"].strip(), slots["doc"]
    if not where and context.here and slots["how"] == "meaning":
        return (yield from _search_document(context.here[0], query, slots["how"], context))
    if not where or is_everything(where):
        return (yield from _search_everywhere(query, slots["how"], context))
    if is_this(where):
        return (yield from _search_document((yield from find_document(where, context)), query, slots["how"], context))
    listed = yield from list_files()
    found = best_matches(where, listed.files)
    folder = resolve_folder(where, listed)
    if folder:
        return (yield from _search_everywhere(query, slots["how"], context, folder))
    if not found:
        return (yield from _search_everywhere(f"{query} in {where}", slots["how"], context, instead=query))
    path = yield from find_document(where, context, listed=listed)
    return (yield from _search_document(path, query, slots["how"], context))


def _search_everywhere(query: str, how: str, context: ScriptContext, folder: str = "", instead: str = "") -> Script:
    """Search all documents: paths with quoted lines, and the exact lines of the first few. If no document contains the
    words, a question is answered by meaning."""
    outcome = yield from perform(
        call("search_documents", query=quote_query(query), limit=MAX_DOCUMENTS, folder=folder or None)
    )
    if not outcome.ok:
        raise ScriptEnd(f"I could not search: {outcome.message}")
    results = outcome.rows("results")
    if not results and instead:
        return (yield from _search_everywhere(instead, how, context, folder))
    if not results and how == "words":
        hint = f"For a search by meaning, ask: find passages about {query}."
        return f"I found “{query}” neither in a text nor in a name. {hint}"
    if not results:
        return (yield from _search_by_meaning(query, folder))
    wanted = [_exact_call(entry["path"], query) for entry in results if entry["matches"]][
        : min(LOOKED_INTO, context.left)
    ]
    inside = (yield wanted) if wanted else ()
    exact = {each.arguments["path"]: outcome for each, outcome in zip(wanted, inside, strict=True) if outcome.ok}
    lines = [f"“{query}” is in {pluralize(len(results), 'document')}{' or more' if outcome.data['truncated'] else ''}:"]
    for entry in results:
        lines += _quote_matches(entry["path"], entry["matches"], exact.get(entry["path"]))
    return "\n".join(lines)


def _exact_call(path: str, query: str) -> ScriptCall:
    return call(
        "search_document",
        path=path,
        query=query,
        match_type="exact",
        case_sensitive=False,
        max_results=MAX_QUOTES,
        include_context=False,
    )


def _quote_matches(path: str, snippets: list[str], found: ScriptOutcome | None) -> list[str]:
    if found is None:
        return [f"- {path}" + ("" if snippets else " (in its name)"), *(f"  > {each}" for each in snippets)]
    matches: list[dict[str, Any]] = found.data["matches"]
    count = found.data["total_matches"]
    head = f"- {path}: {pluralize(count, 'place')}{' or more' if found.data.get('more_matches') else ''}"
    return [head, *_lines(matches)]


def _lines(matches: list[dict[str, Any]]) -> list[str]:
    seen = {match["line"]: match["preview"].strip()[:QUOTE] for match in matches}
    return [f"  > line {line + 1}: {text}" for line, text in seen.items()]


def _search_by_meaning(query: str, folder: str) -> Script:
    """No document contains the exact words: show the nearest passages of all documents."""
    outcome = yield from perform(call("search_documents", query=query, limit=MAX_DOCUMENTS, folder=folder or None))
    found = [entry for entry in outcome.rows("results") if entry["matches"]]
    close = closeness(query, [" ".join(entry["matches"]) for entry in found]) if found else []
    near = [entry for entry, score in zip(found, close, strict=True) if score > FAR][:NEAREST]
    if not near:
        return f"I found “{query}” neither word for word nor by meaning."
    lines = [f"No document has the words “{query}”. The closest passages by meaning:"]
    for entry in near:
        lines += [f"- {entry['path']}", f"  > line {entry['line'] + 1}: {entry['matches'][0]}"]
    return "\n".join(lines)


def _search_document(path: str, query: str, how: str, context: ScriptContext) -> Script:
    """Search one document: literally, else by meaning."""
    outcome = yield from perform(_exact_call(path, query))
    if not outcome.ok:
        raise ScriptEnd(f"I could not search {path}: {outcome.message}")
    if outcome.data["total_matches"] and (how == "words" or " " in query):
        return "\n".join([f"“{query}” in {path}:", *_quote_matches(path, [], outcome)])
    nearest = yield from perform(call("search_document", path=path, query=query, max_results=MAX_QUOTES))
    matches = nearest.rows("matches")
    if not matches:
        return f"I found “{query}” neither word for word nor by meaning in {path}."
    head = f"In {path}, these passages are closest to “{query}”:"
    if how == "words":
        head = f"{path} does not have the words “{query}”. The closest passages:"
    return "\n".join([head, *_lines(matches)])


INTENT = Intent(
    "search",
    "find and quote where something is mentioned, word for word or by meaning",
    ("Where is the harbour mentioned?", "Find passages about the lamp", "Search for Ines in chapter 2"),
    PATTERNS,
    script,
)
