"""The semantic core that is always there: records in `vectors.db`, found by words and by meaning."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lamina import errors
from lamina.formats.hashing import content_hash
from lamina.index import core, coredisk
from lamina.index.core import Records, Refusal, Row
from lamina.pipeline.redact import redact
from lamina.pipeline.semantic import (
    BUILTIN,
    Fact,
    Operation,
    Outcome,
    Promote,
    Purge,
    Record,
    Supersede,
    Update,
    hash_of,
)

if TYPE_CHECKING:
    from lamina.embed.base import Embedder

EMBED_S = 2.0
"""Seconds that one run spends on vectors; what is left gets them in a later one."""
CONFIDENCE = 0.8
_STEP = 256
LONGEST = 64 << 10
"""Bytes of one content."""
Embedders = Callable[[], "Embedder | None"]
"""Gives the embedder of the settings, None for words alone. Raises EmbedderUnavailable."""


class Builtin:
    """The records of one memory folder; `making` is called before the file is made."""

    name = BUILTIN

    def __init__(
        self,
        path: Path,
        embedder: Embedders,
        clock: Callable[[], datetime],
        making: Callable[[Path], None] = lambda _: None,
    ) -> None:
        self._path = path
        self._embedder = embedder
        self._clock = clock
        self._making = making

    @property
    def broken(self) -> str:
        """Why the records can't be read: `missing`, `damaged`, or "" while they can."""
        return coredisk.broken(self._path)

    def ingest(self, facts: Sequence[Fact]) -> list[Outcome]:
        """Store facts as candidates, and give vectors to what has none, for a bounded time.

        A fact whose vector a configured embedder failed to make is stored and counts as failed all the same:
        the next run repairs it.
        """
        if not facts:
            return []
        self._making(self._path)
        try:
            with core.opened(self._path, at=self._clock()) as records, records.change():
                outcomes = [_stored(records, fact) for fact in facts]
        except errors.LaminaError as problem:
            return _failed([fact.hash for fact in facts], problem)
        return self.embedded(outcomes)

    def refine(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Do operations in one transaction: one that fails takes all of them back."""
        if not operations:
            return []
        self._making(self._path)
        try:
            outcomes = operate(self._path, operations, self._clock())
        except errors.LaminaError as problem:
            return _failed([hash_of(each) for each in operations], problem)
        if any(isinstance(each, Update) for each in operations):
            return self.embedded(outcomes)
        return outcomes

    def rebuild(self, records: Sequence[Record]) -> list[Outcome]:
        """Make the records anew, all or nothing; a damaged file is kept beside."""
        self._making(self._path)
        try:
            outcomes = remake(self._path, records, self._clock())
        except errors.LaminaError as problem:
            return _failed([record.fact.hash for record in records], problem)
        return self.embedded(outcomes)

    def embedded(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Give vectors to what has none; what an embedder that is configured failed to embed has failed."""
        try:
            embedder = self._embedder()
            missing = fill(self._path, embedder, self._clock, within_s=EMBED_S) if embedder else frozenset()
        except errors.EmbedderUnavailable:
            missing = without_vector(self._path, None, self._clock)
        return [
            each._replace(ok=False, error="embedder") if each.ok and each.hash in missing else each
            for each in outcomes
        ]


def operate(path: Path, operations: Sequence[Operation], now: datetime) -> list[Outcome]:
    """Do operations in one transaction, all or none; one outcome each.

    Raises CoreUnavailable, UnwritableStore, UnsafePath.
    """
    done: list[Outcome] = []
    try:
        with core.opened(path, at=now) as records, records.change():
            for operation in operations:
                done.append(_done(records, operation))  # noqa: PERF401 - counted when one fails
    except Refusal as refusal:
        return [
            Outcome(hash_of(each), ok=False, error=refusal.fault.error if n == len(done) else "rolled_back")
            for n, each in enumerate(operations)
        ]
    return done


def remake(path: Path, records: Sequence[Record], now: datetime) -> list[Outcome]:
    """Make records anew, in one transaction; a damaged file is kept beside as `NAME.damaged-TIME`.

    Raises CoreUnavailable while another process keeps it, UnwritableStore, UnsafePath; then it is as it was.
    """
    try:
        return _restored(path, records, now)
    except errors.CoreUnavailable as problem:
        if not problem.damaged:
            raise
    coredisk.set_aside(path, stamp=now.strftime("%Y%m%dT%H%M%SZ"))
    return _restored(path, records, now)


def _restored(path: Path, records: Sequence[Record], now: datetime) -> list[Outcome]:
    outcomes, rows = [], []
    for fact, approved in records:
        wrong = checked(fact)
        if wrong:
            outcomes.append(Outcome(fact.hash, ok=False, error=wrong))
            continue
        row = row_of(fact)
        if approved:
            sure = CONFIDENCE if fact.confidence is None else fact.confidence
            row = row._replace(status=core.APPROVED, confidence=sure)
        rows.append(row)
        outcomes.append(Outcome(row.hash, ok=True, status=row.status))
    with core.opened(path, at=now) as held, held.change():
        held.restore(rows)
    return outcomes


def fill(path: Path, embedder: Embedder, clock: Callable[[], datetime], *, within_s: float) -> frozenset[str]:
    """Embed records that have no vector yet, for `within_s` seconds.

    Returns the hashes that a failing embedder left without one; what is left for want of time, or because
    another process keeps the records, is no fault.
    """
    end = time.monotonic() + within_s
    step = min(_STEP, max(1, embedder.batch))
    try:
        with core.opened(path, at=clock(), make=False) as records:
            before: list[tuple[str, str]] = []
            while time.monotonic() < end:
                wanted = records.without_vector(embedder.name, embedder.dimension, step)
                if wanted == before:  # none is left, or a damaged file takes none
                    break
                before = wanted
                rows = embedder.embed([content for _, content in wanted])
                with records.change():
                    records.put_vectors(embedder.name, [each for each, _ in wanted], rows)
    except errors.EmbedderUnavailable:
        return without_vector(path, embedder.name, clock)
    except errors.LaminaError:
        return frozenset()
    return frozenset()


def without_vector(path: Path, model: str | None, clock: Callable[[], datetime]) -> frozenset[str]:
    """Return the records in force that a model did not embed, None: that none did."""
    try:
        with core.opened(path, at=clock(), make=False) as records:
            return records.unembedded(model)
    except errors.LaminaError:
        return frozenset()


def row_of(fact: Fact) -> Row:
    """Return a fact as it is stored."""
    found = content_hash(fact.content)
    return Row(found, fact.content, fact.source, fact.item, fact.kind, core.CANDIDATE, fact.confidence)


def checked(fact: Fact) -> str:
    """Return why a fact can't be stored, as a machine's word, "" if it can."""
    if not fact.content.strip():
        return "blank"
    if any("\0" in each or not is_text(each) for each in fact[:5]):
        return "not_text"
    if len(fact.content.encode()) > LONGEST:
        return "too_long"
    if fact.hash and content_hash(fact.content) != fact.hash:
        return "hash_mismatch"
    return "secret" if redact(fact.content).counts else ""


def is_text(said: str) -> bool:
    """Tell whether there are no halves of surrogate pairs, which no UTF-8 has."""
    return said.isascii() or not any("\ud800" <= char <= "\udfff" for char in said)


def _stored(records: Records, fact: Fact) -> Outcome:
    wrong = checked(fact)
    if wrong:
        return Outcome(fact.hash, ok=False, error=wrong)
    row = row_of(fact)
    status, _ = records.ingest(row)
    return Outcome(row.hash, ok=True, status=status)


def _done(records: Records, operation: Operation) -> Outcome:
    match operation:
        case Promote(found, confidence):
            return Outcome(found, ok=True, status=records.promote(found, confidence))
        case Update(old, fact):
            wrong = checked(fact)
            if wrong:
                raise Refusal(core.Fault(wrong, fact.hash))
            row = row_of(fact)
            return Outcome(row.hash, ok=True, status=records.update(old, row))
        case Supersede(found, by, reason):
            return Outcome(found, ok=True, status=records.supersede(found, by=by, reason=reason))
        case Purge(found):
            return Outcome(found, ok=True, status=records.purge(found))


def _failed(hashes: Sequence[str], problem: errors.LaminaError) -> list[Outcome]:
    """Return one outcome each for a core that could not be used at all."""
    if isinstance(problem, errors.CoreUnavailable):
        word = "damaged" if problem.damaged else "busy"
    else:
        word = problem.kind
    return [Outcome(each, ok=False, error=word) for each in hashes]
