"""Whether an edit of a rename stays within what a rename may change: pronouns, titles, and the verbs that go with them.

A model that is asked about pronouns and rewrites a sentence has done something else than it was asked; such an edit is
not made. Pure.
"""

from __future__ import annotations

from redraft.text.words import word_edits
from redraft.tools.counting import WORD, word_set

GENDERED = word_set(
    """he him his himself she her hers herself they them their theirs themself themselves it its itself
    he's she's they're he’s she’s they’re he'd she'd they'd he’d she’d they’d he'll she'll they'll he’ll she’ll they’ll
    mr mrs ms miss mister sir madam ma'am ma’am lord lady master mistress king queen prince princess duke duchess
    count countess baron baroness emperor empress man woman men women gentleman gentlewoman gentlemen ladies boy girl
    boys girls lad lass husband wife father mother son daughter brother sister uncle aunt nephew niece grandfather
    grandmother grandson granddaughter stepfather stepmother widow widower bride bridegroom groom hero heroine actor
    actress waiter waitress host hostess heir heiress guy gal bachelor spinster spouse parent child sibling
    is are was were has have does do 's ’s 're ’re"""
)


def only_gender(old: str, new: str) -> bool:
    """Whether two wordings differ in nothing but words that tell who is meant, and the endings of their verbs."""
    for edit in word_edits(old, new):
        gone, come = _others(edit.old), _others(edit.new)
        if gone != come:
            return False
    return True


def _others(text: str) -> list[str]:
    words = (word.casefold() for word in WORD.findall(text))
    return [word.removesuffix("es").removesuffix("s") for word in words if word not in GENDERED]
