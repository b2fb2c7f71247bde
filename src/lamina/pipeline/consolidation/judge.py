"""Judges what a consolidation's reply says: which of its facts and changes hold, and as what. Writes nothing.

A fact holds if its values stand in the note that it names, if something in that note supports it, and if it
does not settle what the note only supposed. How far it is trusted follows from who said what supports it.
Texts are given as `clean` returns them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from lamina.formats.entry import Draft, Entry
from lamina.formats.evidence import Evidence, render_evidence
from lamina.formats.layers import LAYERS
from lamina.formats.scope import Scope, parse_scope
from lamina.formats.slug import heading_of
from lamina.formats.source import SessionRef
from lamina.pipeline.changes import Revision, filed, known_on, without_conflict
from lamina.pipeline.checks.hedges import hedged
from lamina.pipeline.checks.misread import SETTLED, TURNED, misread
from lamina.pipeline.checks.names import doubts
from lamina.pipeline.checks.opposites import unbound
from lamina.pipeline.checks.parts import least_share
from lamina.pipeline.checks.polarity import turned
from lamina.pipeline.checks.support import FIRM, LEAST, Support, support
from lamina.pipeline.consolidation.endings import ends
from lamina.pipeline.drafts import layer_of
from lamina.pipeline.exchanges import terms
from lamina.pipeline.ground import Shown, inventions
from lamina.pipeline.redact import redact
from lamina.pipeline.trust import trust_of
from lamina.store.tombstones import content_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from lamina.formats.bullet import Bullet
    from lamina.formats.note import Note
    from lamina.formats.reply import Change, Fact
    from lamina.pipeline.consolidation.sheet import Part
    from lamina.store.store import Located

_SHARED = 0.25  # of an entry's terms: what a change of it must speak about
_ENDED = 0.34  # of an entry's terms: what a note must speak about to end it
_SETTLED = frozenset({"decisions", "learnings", "procedural"})
_TOPIC_WORDS = 8
_LONGEST = 1_200  # characters of a fact: two bullets at their longest
_MARKS = re.compile(r"(?:\s*\[(?:person|agent|tool)\])+\s*$")
_LED = re.compile(r"^(?:-\s+)?(?:\*\*[^*:]{1,40}:\*\*\s*)?(?:\d{4}-\d{2}-\d{2}:\s+)?")


INVENTED, UNSUPPORTED = "invented", "unsupported"
WRONG = frozenset({INVENTED, UNSUPPORTED, SETTLED, TURNED})
"""Reasons for which a reply is at fault, so that its word that a note is done does not count."""


class Unfit(Exception):
    """What was said may not be kept; the message is the reason, in one word or two."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Where a text comes from: the support found in a note, the day, the label of what supports it.

    `weak`: the note carries little of the text, or names nobody for it, or the text names what it does not.
    """

    found: Support
    day: date
    label: str
    ref: SessionRef
    weak: bool = False

    @property
    def evidence(self) -> str:
        """The text of the Evidence field."""
        return render_evidence(Evidence(self.found.quote, self.found.who))


def clean(text: str) -> str:
    """Return what one line of a reply says, without secrets and without marks copied from the prompt.

    Raises Unfit for a text that is longer than any bullet could make it.
    """
    bare = _MARKS.sub("", redact(text).text.strip()).strip()
    bare = _LED.sub("", bare, count=1)
    if len(bare) > _LONGEST:
        raise Unfit("too long")
    if not any(char.isalnum() for char in bare):
        raise Unfit("empty")
    return bare


def prove(part: Part, text: str, *, also: str = "") -> Proof:
    """Find what a text rests on in a note; `also` is other text that its values may stand in.

    Raises Unfit for an invention, for what nothing in the note supports, for a doubt made a fact and for a
    denial turned round.
    """
    grounds = Shown(f"{part.grounds.text}\n{also}") if also else part.grounds
    if inventions(text, grounds):
        raise Unfit(INVENTED)
    found = support(text, part.passages)
    share = least_share(text, found, part.passages)
    strange = bool(doubts(text, grounds))
    if found is None or share < (FIRM if strange else LEAST):
        raise Unfit(UNSUPPORTED)
    told = [each.text for each in _bullets(part, found)]
    if wrong := misread(text, told):
        raise Unfit(wrong)
    return _proof(part, found, weak=strange or share < FIRM or unbound(text, told))


def _bullets(part: Part, found: Support) -> list[Bullet]:
    return [each for each in part.shown.bullets if found.first <= each.first and each.last <= found.last]


def _proof(part: Part, found: Support, *, weak: bool) -> Proof:
    note, bullets = part.file.note, _bullets(part, found)
    ref = SessionRef(note.host, note.session, found.first, found.last)
    day = max((each.day for each in bullets if each.day), default=part.day)
    if not any(each.quote for each in bullets):  # nobody was found to have said it: its words are a model's
        found, weak = replace(found, quote="", who="assistant"), True
    return Proof(found, day, _label(bullets), ref, weak)


def _label(bullets: list[Bullet]) -> str:
    labels = [bullet.label.casefold().strip() for bullet in bullets]
    return "preference" if any(label.startswith("preference") for label in labels) else next(iter(labels), "")


def draft_of(fact: Fact, part: Part, *, keys: Collection[str], review: Callable[[Note], str]) -> Draft:
    """Make the draft of a fact; raises Unfit for one that may not be kept.

    `keys` are the workspaces that exist. A workspace that does not is replaced by the note's own; another
    one makes the entry a candidate.
    """
    text = fact.text
    proof = prove(part, text)
    scope, foreign = scope_for(fact.scope, part.scope, keys)
    layer = fact.layer
    if LAYERS[layer].workspace_only and scope.key is None:
        layer = "semantic"
    trust = _trust(proof, text, layer=layer, everywhere=scope.key is None, review=review(part.file.note))
    trust = "candidate" if foreign else trust
    heading, body = filed(layer, text, proof.day)
    return Draft(
        heading,
        body,
        scope,
        layer,
        topic_of(fact.topic, part, heading),
        proof.day,
        importance=fact.importance,
        source=str(proof.ref),
        evidence=proof.evidence,
        volatility=fact.volatility,
        trust=trust,
        branch=(part.file.note.branch or None) if scope == part.scope else None,
        replaces=layer == "codebase" and trust == "approved",
    )


def scope_for(said: str, own: Scope, keys: Collection[str]) -> tuple[Scope, bool]:
    """Give the scope that a reply names, and whether it is another workspace than the note's own."""
    if said == "global":
        return Scope(None), False
    key = said.partition(":")[2]
    if key not in keys or key == own.key:
        return own, False
    return parse_scope(said), True


def topic_of(said: str, part: Part, heading: str) -> str:
    """Give the topic's title that a reply names, else one of the entry's own first words."""
    title = " ".join(redact(said).text.split()[:_TOPIC_WORDS])
    if title and not inventions(title, part.grounds):
        return title
    return heading_of(heading).rstrip(" .:") or "Overview"


def revision_of(change: Change, part: Part, entry: Entry) -> tuple[Revision, Proof]:
    """Make the new words that a reply gives an entry.

    Raises Unfit where they are not about it or older, and where they turn the old words round though the note
    does not.
    """
    text, old = change.text, _content(entry)
    proof = prove(part, text, also=old)
    if not _about(text, old, _SHARED):
        raise Unfit("about something else")
    if turned(text, [old, *(each.text for each in part.shown.bullets)]):
        raise Unfit(TURNED)
    _later(proof.day, entry)
    return Revision(text, str(proof.ref), proof.evidence, proof.day), proof


def ending_of(change: Change, part: Part, entry: Entry) -> tuple[Revision, Proof]:
    """Check the reason for which a reply ends an entry; raises Unfit if its note says nothing against it."""
    reason, old = change.text, _content(entry)
    if hedged(reason):
        raise Unfit(SETTLED)
    if not _about("\n".join(each.text for each in part.passages), old, _ENDED):
        raise Unfit("about something else")
    if inventions(reason, Shown(f"{part.text}\n{old}\n{entry.id}")):
        raise Unfit(INVENTED)
    found = support(f"{reason}\n{old}", part.passages)
    if found is None:
        raise Unfit(UNSUPPORTED)
    if not ends([each.text for each in part.passages], old, day=part.day):
        raise Unfit("not ended by what was said")
    proof = _proof(part, found, weak=False)
    _later(proof.day, entry)
    return Revision(reason, str(proof.ref), proof.evidence, proof.day), proof


def change_trust(proof: Proof, text: str, located: Located, review: str) -> str:
    """Say how far a change of an entry may be trusted."""
    everywhere = located.scope.key is None
    return _trust(proof, text, layer=located.layer, everywhere=everywhere, review=review)


def _trust(proof: Proof, text: str, *, layer: str, everywhere: bool, review: str) -> str:
    """Say how far a text may be trusted: a weakly proven one, and a doubt about what is settled, never is.

    What a model calls a learning counts as a preference where the note does not call it one.
    """
    if proof.weak or (layer in _SETTLED and hedged(text)):
        return "candidate"
    label = "preference" if layer == "learnings" and layer_of(proof.label) != layer else proof.label
    return trust_of(layer=layer, label=label, everywhere=everywhere, who=proof.found.who, review=review)


def _content(entry: Entry) -> str:
    """Give what an entry says; the line that names a conflict is the program's own."""
    return content_of(entry.heading, without_conflict(entry.body))


def _later(day: date, entry: Entry) -> None:
    """Refuse words that are older than what they would change: an old session that is read late."""
    if day < known_on(entry):
        raise Unfit("older than the entry")


def _about(text: str, entry: str, least: float) -> bool:
    wanted = terms(entry)
    return bool(wanted) and len(terms(text) & wanted) >= least * len(wanted)
