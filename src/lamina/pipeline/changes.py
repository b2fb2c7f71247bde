"""How an entry gives way to newer words: the old text is kept, and what a person vouches for stays in force.

An update keeps the id, so that what points to the entry finds the newest words; the old ones become an entry
of their own behind it, superseded. A supersession leaves the old entry where it is. What may do neither
stands beside the entry as a candidate that names it, until a person decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from lamina.formats.entry import Draft, Entry, with_body, with_field, with_heading
from lamina.formats.evidence import parse_evidence
from lamina.formats.hashing import entry_hash
from lamina.formats.near import nearly_same
from lamina.formats.slug import whole_words
from lamina.formats.source import from_user, parse_sources, render_sources
from lamina.formats.structure import ORDER, one_line
from lamina.pipeline.filters import IN_FORCE
from lamina.pipeline.layout import laid_out
from lamina.store.tombstones import content_of

if TYPE_CHECKING:
    from lamina.formats.scope import Scope
    from lamina.store.write import Writing, Written

_REASON = 200
_LABEL_OF = {"decisions": "decision", "procedural": "how-to"}
_CONFLICT = re.compile(r"(?m)^Conflicts with (\S+?)\.[^\n]*\s*\Z")


@dataclass(frozen=True, slots=True)
class Revision:
    """New words for an entry. `source` is the text of a Source field, `evidence` of an Evidence field."""

    text: str
    source: str
    evidence: str
    day: date


def filed(layer: str, text: str, day: date) -> tuple[str, str]:
    """Give heading and body of one line of text, laid out as its layer wants it."""
    heading, body, _ = laid_out(_LABEL_OF.get(layer, ""), text, day)
    return heading, body


def is_firm(entry: Entry) -> bool:
    """Say whether a person vouches for an entry, so that no model takes it out of force."""
    return from_user(entry.sources)


def known_on(entry: Entry) -> date:
    """Give the last day on which an entry was written or confirmed; the first of all days if none is told."""
    return max((each for each in (entry.verified, entry.date) if each), default=date.min)


def holder(batch: Writing, scope: Scope, heading: str, body: str, *, day: date) -> str | None:
    """Return the id of an entry that settles this content: one in force, or one that was superseded later on.

    A value that comes back after it was replaced is news: `day` is then later than its successor's.
    """
    for id_ in batch.holders(scope, entry_hash(heading, body)):
        entry = batch.find(id_) if id_ else None  # written by hand, without an id yet
        if entry is None or entry.trust in IN_FORCE:
            return id_
        successor = batch.find(entry.superseded_by) if entry.superseded_by else None
        if successor is None or successor.date is None or day <= successor.date:
            return id_
    return None


def update(batch: Writing, id_: str, revision: Revision) -> Written | None:
    """Give an entry new words and keep the old ones behind it; None if it says them already.

    Raises NoEntry.
    """
    old = batch.find(id_)
    scope, layer, topic = batch.place(id_)
    heading, body = filed(layer, revision.text, revision.day)
    if old is None or says(old, revision.text):
        return None

    def renew(entry: Entry) -> Entry:
        entry = with_body(with_heading(entry, heading), body)
        sources = (*parse_sources(revision.source), *entry.sources)
        entry = with_field(entry, "Source", render_sources(tuple(dict.fromkeys(sources))))
        if revision.evidence:
            entry = with_field(entry, "Evidence", revision.evidence)
        return with_field(entry, "Verified", str(max(revision.day, entry.verified or revision.day)))

    changed = batch.change(id_, renew)
    _keep(batch, old, Draft(old.heading, old.body, scope, layer, topic, old.date or revision.day), changed.id)
    return changed


def _keep(batch: Writing, old: Entry, bare: Draft, by: str) -> None:
    """Write the words that an entry had before as an entry of their own, out of force."""
    draft = replace(
        bare,
        importance=old.importance if old.field("Importance") else None,
        source=old.source,
        evidence=old.field("Evidence"),
        volatility=old.volatility,
        verified=old.verified,
        valid_until=old.valid_until,
        branch=old.branch or None,
    )
    own = {each.label: each.value for each in old.fields if each.label.lower() not in ORDER}
    batch.add(draft, fields={"Status": f"superseded by {by}", **own})


def supersede(batch: Writing, id_: str, *, day: date, by: str = "", reason: str = "") -> Written:
    """Take an entry out of force: `by` names its successor, `reason` says why where there is none.

    Raises NoEntry.
    """
    status = f"superseded by {by}" if by else f"superseded {day}"
    why = whole_words(one_line(reason), _REASON)

    def end(entry: Entry) -> Entry:
        entry = with_field(entry, "Status", status)
        return with_field(entry, "Reason", why) if why else entry

    return batch.change(id_, end)


def beside(batch: Writing, id_: str, revision: Revision) -> Written | None:
    """Put new words beside an entry, as a candidate that names it; None if they stand there.

    Raises NoEntry.
    """
    old = batch.find(id_)
    scope, layer, topic = batch.place(id_)
    heading, body = filed(layer, revision.text, revision.day)
    if old is not None and says(old, revision.text):
        return None
    draft = Draft(
        heading, body, scope, layer, topic, revision.day,
        importance=None, source=revision.source, evidence=revision.evidence, trust="candidate",
    )  # fmt: skip
    return propose(batch, conflicting(draft, id_))


def conflicting(draft: Draft, id_: str) -> Draft:
    """Return a draft as a candidate that says which entry it conflicts with."""
    body = f"{draft.body}\n\nConflicts with {id_}.".strip()
    return replace(draft, body=body, trust="candidate", replaces=False)


def conflict_of(body: str) -> str:
    """Return the id that a candidate's last line says it conflicts with, "" if it names none."""
    found = _CONFLICT.search(body)
    return found[1] if found else ""


def without_conflict(body: str) -> str:
    """Return a body without the line that names a conflict."""
    return _CONFLICT.sub("", body).rstrip()


def propose(batch: Writing, draft: Draft) -> Written | None:
    """Write a candidate unless its content is there, in whatever state."""
    if batch.known(draft.scope, entry_hash(draft.heading, draft.body)) is not None:
        return None
    return batch.add(draft)


def says(entry: Entry, text: str) -> bool:
    """Say whether an entry says a text already, in the same or nearly the same words."""
    return nearly_same(content_of(entry.heading, entry.body), text)


def says_who(entry: Entry) -> str:
    """Return who said what an entry rests on: `user`, `assistant`, `tool`, "" if that is not known."""
    evidence = parse_evidence(entry.field("Evidence"))
    return evidence.who if evidence else ""
