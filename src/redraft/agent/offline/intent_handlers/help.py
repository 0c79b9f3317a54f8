"""What the assistant says about itself: that it follows rules, what it can do, and what it did not understand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.agent.offline.intents import Intent, parse_patterns
from redraft.agent.offline.request_parser import nearest_examples
from redraft.agent.offline.tokens import word_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.agent.offline.intents import Script, ScriptContext, SlotValues

WHO = (
    "I am the built-in assistant: I follow fixed rules and am not a language model. I understand a set of "
    "requests, use the same tools as any other agent, need no key and no network, and you can review "
    "everything I change."
)
MODEL = "For anything else, set up a model (see docs/models.md)."

KEYWORDS = word_list("help commands examples capabilities assistant abilities explain")
PATTERNS = parse_patterns("""
help [me]
(show|give|i need|need|get) [some] help
(show|list|give|tell) (commands|examples|options|intents|possibilities|what you can \
 do|abilities|capabilities|features|how it works)
what (can|do|could|else can) (you|i|we) (do|ask|say|know|offer|understand|help with) [you] [here] [(with|for) \
 (documents|notes|you|files)]
what are you [(good for|able to do|capable of|here for|for)]
what (commands|requests|questions|tasks|sentences) (do you|can you|are) \
 (know|understand|there|do|support|handle|available)
(how|in what way) can you help [me]
how (do|does|can|should) (i|you|it|this|we) (work|use you|use this|start|begin|talk to you|ask you|use it|get \
 started)
who (are|made) you
(are you|is this) [a] [real] (model|ai|language model|llm|robot|bot|human|person|chatgpt|claude|machine|program) \
 [or [a] (model|ai|language model|robot|bot|human|person|machine|program)]
what (is|are) this [(assistant|thing|program|tool)]
tell [me] about yourself
what (is|are) your (capabilities|abilities|skills|features|commands|functions|limits|limitations)
what (kind|kinds|sort|sorts|type|types) of (things|requests|questions|tasks|commands) (can|do) (you|i) \
 (do|ask|understand|answer|handle)
[give|show|list] [some] (example|sample) (requests|questions|commands|phrases|sentences)
what (should|could|may|must|do) i (type|say|ask|write|do) [here] [now]
lost [, help]
is this [a] (chatbot|assistant|bot)
what (is|are) my (options|choices|possibilities)
how (can|do|should) i (ask|tell|talk to|speak to) you [something]
(do|does) (you|this|it) use (ai|a model|a language model|an llm|chatgpt)
what (features|functions|commands|abilities|skills) do you have
who am i (talking|speaking|writing) (to|with)
[explain] what you [can] do
what is possible [here]
what are you [good] at
(which|what) (commands|requests|questions) (are there|can i ask|can i use|exist)
how (do|does) (you|this|it|this assistant|assistant) work
introduce yourself
what is (redraft|this assistant)
(commands|examples|usage|manual|instructions)
i don't know what to (do|ask|say|type)
can you help [me]
""")


def greeting() -> str:
    return f"Hello. {WHO} Ask for “help” to see what I can do."


def explain_unknown_request(request: str, intents: Sequence[Intent]) -> str:
    """Say that the request was not understood, with the three closest examples."""
    examples = "\n".join(f"- {example}" for example in nearest_examples(request, intents))
    sorry = f"I did not understand that, so I did nothing. {WHO}"
    return f"{sorry}\n\nDid you mean something like:\n{examples}\n\n{MODEL}"


def help_intent(intents: Sequence[Intent]) -> Intent:
    """The intent that shows all the others."""

    def script(_slots: SlotValues, _desk: ScriptContext) -> Script:
        able = (f"- {intent.says}. For example: “{intent.examples[0]}”" for intent in intents)
        return "\n".join([WHO, "", "I can:", *able, "", MODEL])
        yield ()  # a script is a generator, even one that calls no tool

    return Intent("help", "show what I can do", ("What can you do?", "Help"), PATTERNS, script, KEYWORDS)
