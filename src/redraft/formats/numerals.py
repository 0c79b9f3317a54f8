"""Numbers as headings write them: 12, XII, twelve, the twelfth.

`NUMBER` is a regular expression for one; `value` says which. Only well-formed roman numerals below 400 count, because
"MILD" and "CIVIL" are words, and no book has so many chapters.
"""

from __future__ import annotations

import re
from typing import Literal

Style = Literal["arabic", "roman", "word"]

_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_FIRSTS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
_TENTHS = [
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
]
_TWENTIETHS = ["twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth", "seventieth", "eightieth", "ninetieth"]

_SMALL = {word: number for words in ([*_ONES, *_TEENS], [*_FIRSTS, *_TENTHS]) for number, word in enumerate(words, 1)}
_ROUND = {word: 10 * number for words in (_TENS, _TWENTIETHS) for number, word in enumerate(words, 2)}
_ORDINALS = {*_FIRSTS, *_TENTHS, *_TWENTIETHS}

_ROMAN = r"(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,4})"
_WORD = rf"(?:{'|'.join(_TENS)})[- ](?:{'|'.join([*_ONES, *_FIRSTS])})|{'|'.join([*_SMALL, *_ROUND])}"
_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}

# The ordinals of German ("Erstes Kapitel", "Das einundzwanzigste Kapitel") and French ("Première partie").
_GERMAN = ["ers", "zwei", "drit", "vier", "fünf", "sechs", "sieb", "ach", "neun", "zehn", "elf", "zwölf", "dreizehn",
           "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"]  # fmt: skip
_GERMAN_ONES = ["ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
_GERMAN_TENS = ["zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
_FRENCH = ["premi(?:er|ère)", "deuxième|seconde?", "troisième", "quatrième", "cinquième", "sixième",
           "septième", "huitième", "neuvième", "dixième", "onzième", "douzième",
           "treizième", "quatorzième", "quinzième"]  # fmt: skip
_GERMAN_ORDINAL = (
    rf"(?:(?:(?:{'|'.join(_GERMAN_ONES)})und)?(?:{'|'.join(_GERMAN_TENS)})s|{'|'.join(sorted(_GERMAN, reverse=True))})"
    r"te[rsn]?"
)
_FOREIGN = rf"(?:{_GERMAN_ORDINAL}|{'|'.join(_FRENCH)})(?![\w’'])"

# Longest first, and each ends at a word's end, so that "I" is not found in "In" nor "six" in "sixty".
NUMBER = rf"(?:\d{{1,3}}(?:st|nd|rd|th)?|{_WORD}|{_ROMAN})(?![\w’'])"
ORDINAL = rf"(?:{'|'.join(sorted(_ORDINALS, key=len, reverse=True))}|{_FOREIGN})"
_NUMBERED_FRENCH = [re.compile(rf"(?:{word})") for word in _FRENCH]


def style(number: str) -> Style:
    """How a number that `NUMBER` matched is written."""
    if number[0].isdigit():
        return "arabic"
    return "roman" if set(number.lower()) <= _DIGITS.keys() else "word"


def value(number: str) -> int:
    """The value of a number that `NUMBER` matched."""
    match style(number):
        case "arabic":
            digits = re.match(r"\d+", number)
            return int(digits.group()) if digits else 0
        case "roman":
            return _roman(number.lower())
        case "word":
            words = re.split(r"[- ]", number.lower())
            if words[0] not in _SMALL and words[0] not in _ROUND:
                return _foreign(number.lower())
            return sum(_ROUND.get(word, 0) + _SMALL.get(word, 0) for word in words)


def _roman(letters: str) -> int:
    total = 0
    for letter, following in zip(letters, [*letters[1:], ""], strict=True):
        digit = _DIGITS[letter]
        total += -digit if following and _DIGITS[following] > digit else digit
    return total


def _foreign(word: str) -> int:
    """The value of a German or French ordinal in small letters; 0 where it is none."""
    for number, french in enumerate(_NUMBERED_FRENCH, 1):
        if french.fullmatch(word):
            return number
    stem = re.sub(r"te[rsn]?$", "", word)
    if stem in _GERMAN:
        return _GERMAN.index(stem) + 1
    ones, _, tens = stem.removesuffix("s").rpartition("und")
    if tens not in _GERMAN_TENS:
        return 0
    return 10 * (_GERMAN_TENS.index(tens) + 2) + (_GERMAN_ONES.index(ones) + 1 if ones in _GERMAN_ONES else 0)
