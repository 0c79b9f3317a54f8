"""The words of a text as a search compares them: folded, stemmed, and without stop words.

Stemming removes the English endings that matter most for search (plurals, -ing, -ed, -ly and the like) and knows the
irregular forms of common words; it is not a full stemmer. In other languages it does little, and little harm. Text
without spaces (Chinese, Japanese) is split into pairs of characters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_UNSPACED = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_SHORTEST_STEM = 3
_VOWEL = re.compile(r"[aeiouy]")
_ENDINGS = (
    ("ational", "ate"), ("fulness", "ful"), ("ousness", "ous"), ("iveness", "ive"), ("ization", "ize"),
    ("ement", ""), ("ment", ""), ("ness", ""), ("tion", "t"), ("sion", "s"), ("able", ""), ("ible", ""),
    ("ally", "al"), ("ful", ""), ("ing", ""), ("est", ""), ("ed", ""), ("er", ""), ("ly", ""),
)  # fmt: skip
# Stop words: in nearly every question and passage, so they distinguish passages only by chance.
_STOP_WORDS = """
    a about after all am an and any are as at be because been before being but by can could did do does for from had
    has have he her hers him his how i if in into is it its me my no not of on or our out she so some than that the
    their them then there these they this those to up upon us was we were what when where which who whom whose why
    will with would you your
"""
_STOP = frozenset(_STOP_WORDS.split())
# Of the words between two commas the last stands for all. Forms that are also another common word are left out, unless
# the verb is likelier in prose ("saw", "left", "wound").
_IRREGULAR = """
    arose arisen arise, awoke awoken awake, bore borne born bear, beaten beat, became become, began begun begin,
    bent bend, bade bidden bid, bit bitten bite, blew blown blow, bled bleed, broke broken break, bred breed,
    brought bring, built build, burnt burn, bought buy, caught catch, chose chosen choose, clung cling, came come,
    crept creep, dealt deal, dug dig, drew drawn draw, dreamt dream, drank drunk drink, drove driven drive,
    dwelt dwell, ate eaten eat, fell fallen fall, fed feed, felt feel, fought fight, found find, fled flee,
    flung fling, flew flown fly, forbade forbidden forbid, forgot forgotten forget, forgave forgiven forgive,
    froze frozen freeze, got gotten get, gave given give, went gone going go, grew grown grow, hung hang, heard hear,
    hid hidden hide, held hold, kept keep, knelt kneel, knew known know, laid lay, led lead, leant lean, leapt leap,
    learnt learn, left leave, lent lend, lain lie, lit light, lost lose, made make, meant mean, met meet, paid pay,
    rode ridden ride, rang rung ring, rose risen rise, ran run, said say, saw seen see, sought seek, sold sell,
    sent send, shook shaken shake, shone shine, shot shoot, shown show, shrank shrunk shrink, sang sung sing,
    sank sunk sink, sat sit, slew slain slay, slept sleep, slid slide, spoke spoken speak, sped speed, spent spend,
    spun spin, sprang sprung spring, stood stand, stole stolen steal, stuck stick, stung sting, strode stride,
    struck stricken strike, strove striven strive, swore sworn swear, swept sweep, swam swum swim, swung swing,
    took taken take, taught teach, tore torn tear, told tell, thought think, threw thrown throw, trod trodden tread,
    understood understand, woke woken wake, wore worn wear, wove woven weave, wept weep, won win, wound wind,
    wrung wring, wrote written write, men man, women woman, children child, feet foot, teeth tooth, geese goose,
    mice mouse, wives wife, lives life, knives knife, wolves wolf, leaves leaf, halves half, thieves thief,
    loaves loaf, elves elf, selves self, better best good, worse worst bad
"""
_BASE = {form: words[-1] for words in map(str.split, _IRREGULAR.split(",")) for form in words[:-1]}


def terms(text: str) -> Iterator[str]:
    """The stems of a text's words, without stop words."""
    for match in _WORD.finditer(text.casefold()):
        word = match.group().replace("’", "'").removesuffix("'s")
        if word in _STOP:
            continue
        if not word.isascii() and len(word) > 2 and _UNSPACED.search(word):
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield stem(word)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without its ending; the result need not be a word, only the same for related words."""
    word = _strip_plural(_BASE.get(word, word))
    for ending, instead in _ENDINGS:
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= _SHORTEST_STEM and _VOWEL.search(rest):
            word = rest + instead
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "aeious":
        word = word[:-1]
    if len(word) > _SHORTEST_STEM and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 2 and word.endswith("y") else word


def _strip_plural(word: str) -> str:
    if len(word) <= _SHORTEST_STEM or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes", "zes")) else word[:-1]
