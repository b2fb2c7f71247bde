"""Verdicts: what of a refresh's answer may be done with an entry, and what never takes it out of force.

A model's words count as far as the repository's own lines carry them, and those lines are a tool's: whoever
writes to the repository writes them, so they confirm, correct and end facts, and overrule nobody's wish.
Writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from lamina.pipeline.changes import is_firm, says_who
from lamina.pipeline.checks.hedges import hardened, hedged
from lamina.pipeline.checks.names import doubts
from lamina.pipeline.checks.polarity import turned
from lamina.pipeline.checks.support import FIRM, Passage, support
from lamina.pipeline.consolidation.endings import ends
from lamina.pipeline.exchanges import terms
from lamina.pipeline.ground import Shown, inventions
from lamina.pipeline.proof import said_in, speaks_of
from lamina.pipeline.trust import trust_of

if TYPE_CHECKING:
    from datetime import date

    from lamina.formats.reply import Change, Reply
    from lamina.store.store import Located

_SEAMS = re.compile(r"[\W_]+")  # of paths, images and identifiers, whose parts may be named alone
KEEP, UPDATE, SUPERSEDE, BOTH = "keep", "update", "supersede", "both"
_SHARED = 0.25  # of an entry's terms: what new words for it must speak about
_NEWS = 0.5  # of the terms that new words add: what must stand in the evidence
_ENDED = 0.34  # of an entry's terms: what a line must speak about to end it without naming what it names


class Verdict(NamedTuple):
    """What was said of one entry; `both` stands for two different answers."""

    verb: str
    text: str = ""


def verdicts(reply: Reply) -> dict[str, Verdict]:
    """Give what a reply says of each id. Two different answers are none."""
    said: dict[str, list[Verdict]] = {id_: [Verdict(KEEP)] for id_ in reply.keeps}
    some: tuple[tuple[str, Sequence[Change]], ...] = (
        (UPDATE, reply.updates),
        (SUPERSEDE, reply.supersedes),
    )
    for verb, changes in some:
        for change in changes:
            one = Verdict(verb, change.text)
            if one not in said.setdefault(change.id, []):
                said[change.id].append(one)
    return {id_: all_[0] if len(all_) == 1 else Verdict(BOTH) for id_, all_ in said.items()}


def unfit(verdict: Verdict, old: str, proof: Sequence[str], *, day: date) -> str:
    """Say why a model's words may not be written, "" if they may; `old` is the entry's text as shown."""
    text = verdict.text
    shown = Shown("\n".join([old, *proof]))
    if strange := [*inventions(text, shown), *doubts(text, shown)]:
        return f"the reply names {strange[0]!r}, which stands nowhere in what was shown"
    if _share(text, [old, *proof]) < FIRM:
        return "the reply rests on too little of what was shown"
    return _unfit_words(text, old, proof) if verdict.verb == UPDATE else _unfit_end(text, old, proof, day)


def _unfit_words(text: str, old: str, proof: Sequence[str]) -> str:
    said = [said_in(line) for line in proof]
    if hardened(text, old) or hardened(text, "\n".join(said)):
        return "the reply makes a fact of what was only supposed"
    if len(terms(text) & terms(old)) < _SHARED * len(terms(old)):
        return "the reply is about something else"
    if turned(text, said) or turned(text, [old, *said]):
        return "the reply turns round what was shown"
    news = terms(text) - terms(old)
    told = frozenset[str]().union(*(terms(line) | terms(_SEAMS.sub(" ", line)) for line in proof))
    if not terms(text) & told or len(news & told) < _NEWS * len(news):
        return "what the reply adds does not stand in the evidence"
    return ""


def _unfit_end(reason: str, old: str, proof: Sequence[str], day: date) -> str:
    if hedged(reason):
        return "the reply makes a fact of what was only supposed"
    against = [each for line in proof if _is_about(each := said_in(line), old) and not hedged(each)]
    return "" if ends(against, old, day=day) else "nothing in the evidence ends it"


def _is_about(said: str, old: str) -> bool:
    """Say whether a line names what the entry names, or shares enough of its words."""
    wanted = terms(old)
    return speaks_of(said, old) or len(terms(said) & wanted) >= _ENDED * len(wanted)


def _share(text: str, told: Sequence[str]) -> float:
    found = support(text, [Passage(at, at, "tool", each) for at, each in enumerate(told)])
    return found.share if found else 0.0


def stays(located: Located, verdict: Verdict, *, review: str) -> bool:
    """Say whether an entry stays in force whatever a reply says against it, the change waiting beside it.

    So stands what a person vouches for or said, decisions, preferences and what holds everywhere, whatever
    the setting `review`; and what new words turn round, or only take words away from.
    """
    entry = located.entry
    if is_firm(entry) or says_who(entry) == "user":
        return True
    old = f"{entry.heading}\n{entry.body}"
    if verdict.verb == UPDATE and (turned(verdict.text, [old]) or terms(verdict.text) <= terms(old)):
        return True
    label = "preference" if located.layer == "learnings" else ""
    everywhere = located.scope.key is None
    return "candidate" in {
        trust_of(layer=located.layer, label=label, everywhere=everywhere, who="tool", review=each)
        for each in ("doubtful", review)
    }
