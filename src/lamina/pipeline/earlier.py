"""What a scope held before a note: topics, values that a correction may replace, open ends. Read once a run.

Everything is looked up by word, so that a thousand notes cost a thousand times one note.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from lamina.formats.entry import Draft
from lamina.formats.scope import Scope
from lamina.formats.source import SessionRef, from_user
from lamina.pipeline import cues, signs
from lamina.pipeline.exchanges import terms
from lamina.pipeline.kinds import ends, matter
from lamina.pipeline.statements import sentences
from lamina.pipeline.topics import OWN, Shelf, keys
from lamina.store.store import Store

LAYERS_WRITTEN = ("semantic", "episodic", "procedural", "learnings", "decisions")
OPEN_TOPIC = OWN["open"]


@dataclass(frozen=True, slots=True)
class Past:
    """An entry that stands already. `session` is where it came from, `text` heading and body."""

    id: str
    topic: str
    heading: str
    text: str
    day: date
    session: str
    source: str
    firm: bool  # a person vouches for it, or it is out of force already


class Earlier:
    """Grows with each entry that is written; what is dated later than the note at hand is not seen yet."""

    def __init__(self, store: Store, scope: Scope) -> None:
        self.scope = scope
        self.shelf = Shelf()
        self._waiting: list[tuple[date, int, Past]] = []
        self._own: dict[str, set[str]] = {}
        self._by_topic: dict[str, list[Past]] = {}
        self._open: dict[str, dict[str, Past]] = {}
        for layer in LAYERS_WRITTEN:
            for located in store.entries(scope, layer):
                entry = located.entry
                session = next((ref.session for ref in entry.sources if isinstance(ref, SessionRef)), "")
                firm = (
                    entry.trust not in ("approved", "candidate") or from_user(entry.sources) or not entry.id
                )
                text = f"{entry.heading} {entry.body}"
                day = entry.date or date.min
                self._take(
                    Past(entry.id, located.topic, entry.heading, text, day, session, entry.source, firm)
                )

    def add(self, draft: Draft, id_: str, session: str) -> None:
        """Take in an entry that was just written."""
        text = f"{draft.heading} {draft.body}"
        self._take(Past(id_, draft.topic, draft.heading, text, draft.date, session, draft.source, firm=False))

    def _take(self, past: Past) -> None:
        heapq.heappush(self._waiting, (past.day, len(self._waiting), past))
        if past.session and past.topic not in OWN.values():
            self._own.setdefault(past.session, set()).add(past.topic)
        if not past.firm:
            self._by_topic.setdefault(past.topic, []).append(past)
            about = matter(past.heading) if past.topic == OPEN_TOPIC else frozenset()
            if about:
                self._open.setdefault(min(about), {})[past.id] = past

    def until(self, day: date) -> Shelf:
        """Give the topics of entries up to a day; days must not go back."""
        while self._waiting and self._waiting[0][0] <= day:
            past = heapq.heappop(self._waiting)[2]
            self.shelf.add(past.topic, past.heading)
        return self.shelf

    def own(self, session: str) -> str:
        """Give the topic that a session wrote to before, "" for none."""
        return min(self._own.get(session, ()), default="") if session else ""

    def gone(self, past: Past) -> None:
        """Take out an entry that was superseded."""
        self._by_topic[past.topic].remove(past)
        for found in self._open.values():
            found.pop(past.id, None)

    def replaced(self, draft: Draft) -> Past | None:
        """Find the one earlier entry of the topic that holds the value a person's correction replaces."""
        said = f"{draft.heading} {draft.body} {draft.evidence}"
        lost = {value for found in cues.LOST.finditer(said) for value in _values(found[1])}
        if not lost:
            return None
        found = [
            past
            for past in self._by_topic.get(draft.topic, ())
            if _before(past, draft) and lost & _values(past.text)
        ]
        return found[0] if len(found) == 1 and _same_subject(terms(found[0].text), terms(said)) else None

    def closed(self, draft: Draft) -> list[Past]:
        """Find the open ends that an entry says are done."""
        if draft.topic == OPEN_TOPIC or not self._open:
            return []
        found: dict[str, Past] = {}
        for told in _done(draft):
            for key in sorted(keys(told)):
                ended = (past for past in self._open.get(key, {}).values() if ends(past.heading, told))
                found |= {past.id: past for past in ended if _before(past, draft)}
        return list(found.values())


def _done(draft: Draft) -> Iterator[str]:
    lines: Iterable[str] = (draft.heading, *draft.body.split("\n"))
    for told in (sentence for line in lines if line for sentence in sentences(line)):
        if cues.anywhere(signs.DONE).search(told):
            yield told


def _before(past: Past, draft: Draft) -> bool:
    return past.day <= draft.date and past.source != draft.source


def _same_subject(old: frozenset[str], new: frozenset[str]) -> bool:
    """Say whether a correction covers at least half of what an entry says; else too much would go with it."""
    return 2 * len(old & new) >= len(old)


def _values(text: str) -> set[str]:
    """Give what can be a value that is put right: names, numbers, identifiers; folded."""
    return {found.casefold().strip("`") for found in _VALUE.findall(text)}


_VALUE = re.compile(r"`[^`]{1,60}`|\b(?:[A-Z][\w.+-]*|\w*\d[\w.+-]*|\w+[_.]\w+)\b")
