"""The semantic core that is always there: records in `vectors.db`, found by words and by meaning."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lamina import errors
from lamina.formats.hashing import content_hash
from lamina.index import core
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
)

if TYPE_CHECKING:
    from lamina.embed.base import Embedder

EMBED_S = 2.0
"""Seconds that one run spends on vectors; what is left gets them in a later one."""
CONFIDENCE = 0.8
_STEP = 256
_REBUILT = ".lamina-rebuilt.db"

Embedders = Callable[[], "Embedder | None"]
"""Gives the embedder of the settings, None for words alone. Raises EmbedderUnavailable."""


class Builtin:
    """The records of one memory folder."""

    name = BUILTIN

    def __init__(self, path: Path, embedder: Embedders, clock: Callable[[], datetime]) -> None:
        self._path = path
        self._embedder = embedder
        self._clock = clock

    @property
    def broken(self) -> str:
        """Why the records can't be read: `missing`, `damaged`, or "" while they can."""
        return core.broken(self._path)

    def ingest(self, facts: Sequence[Fact]) -> list[Outcome]:
        """Store facts as candidates, and give vectors to what has none, for a bounded time.

        A fact whose vector a configured embedder failed to make is stored and counts as failed all the same:
        the next run repairs it.
        """
        outcomes: list[Outcome] = []
        try:
            with core.opened(self._path, at=self._clock()) as records, records.change():
                outcomes = [_stored(records, fact) for fact in facts]
        except errors.LaminaError as problem:
            return _failed([fact.hash for fact in facts], problem)
        missing = self._embed()
        return [
            each._replace(ok=False, error="embedder") if each.ok and each.hash in missing else each
            for each in outcomes
        ]

    def refine(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Do operations in one transaction: one that fails takes all of them back."""
        done: list[Outcome] = []
        try:
            with core.opened(self._path, at=self._clock()) as records, records.change():
                for operation in operations:
                    done.append(_done(records, operation))  # noqa: PERF401 - counted when one fails
        except Refusal as refusal:
            failed = len(done)
            return [
                Outcome(_hash_of(each), ok=False, error=refusal.fault.error if n == failed else "rolled_back")
                for n, each in enumerate(operations)
            ]
        except errors.LaminaError as problem:
            return _failed([_hash_of(each) for each in operations], problem)
        self._embed()
        return done

    def rebuild(self, records: Sequence[Record]) -> list[Outcome]:
        """Make the records anew beside the old ones and put them in their place; a damaged file is kept."""
        beside = self._path.with_name(_REBUILT)
        try:
            _discard(beside)
            with core.opened(beside, at=self._clock()) as new, new.change():
                outcomes = [_rebuilt(new, record) for record in records]
            if core.broken(self._path) == "damaged":
                stamp = self._clock().strftime("%Y%m%dT%H%M%SZ")
                self._path.replace(self._path.with_name(f"{self._path.name}.damaged-{stamp}"))
            _discard_journal(self._path)
            beside.replace(self._path)
        except errors.LaminaError as problem:
            _discard(beside)
            return _failed([record.fact.hash for record in records], problem)
        except OSError as problem:
            _discard(beside)
            return [
                Outcome(each.fact.hash, ok=False, error=f"unwritable: {problem.strerror}") for each in records
            ]
        missing = self._embed()
        return [
            each._replace(ok=False, error="embedder") if each.ok and each.hash in missing else each
            for each in outcomes
        ]

    def _embed(self) -> frozenset[str]:
        """Give vectors to what has none; returns what an embedder that is configured failed to embed."""
        try:
            embedder = self._embedder()
        except errors.EmbedderUnavailable:
            return self._unembedded("", 0)
        if embedder is None:
            return frozenset()
        return fill(self._path, embedder, self._clock, within_s=EMBED_S)

    def _unembedded(self, name: str, dimension: int) -> frozenset[str]:
        try:
            with core.opened(self._path, at=self._clock(), make=False) as records:
                return frozenset(each for each, _ in records.without_vector(name, dimension, 1_000_000))
        except errors.LaminaError:
            return frozenset()


def fill(path: Path, embedder: Embedder, clock: Callable[[], datetime], *, within_s: float) -> frozenset[str]:
    """Embed records that have no vector yet, for `within_s` seconds.

    Returns the hashes that a failing embedder left without one; what is left for want of time is no fault.
    """
    end = time.monotonic() + within_s
    try:
        with core.opened(path, at=clock(), make=False) as records:
            dimension = embedder.dimension
            while time.monotonic() < end:
                wanted = records.without_vector(embedder.name, dimension, min(_STEP, max(1, embedder.batch)))
                if not wanted:
                    break
                rows = embedder.embed([content for _, content in wanted])
                with records.change():
                    records.put_vectors(embedder.name, [each for each, _ in wanted], rows)
    except errors.EmbedderUnavailable:
        return _without(path, embedder, clock)
    except errors.LaminaError:
        return frozenset()
    return frozenset()


def _without(path: Path, embedder: Embedder, clock: Callable[[], datetime]) -> frozenset[str]:
    try:
        with core.opened(path, at=clock(), make=False) as records:
            held = records.without_vector(embedder.name, _dimension(embedder), 1_000_000)
            return frozenset(each for each, _ in held)
    except errors.LaminaError:
        return frozenset()


def _dimension(embedder: Embedder) -> int:
    try:
        return embedder.dimension
    except errors.EmbedderUnavailable:
        return 0


def row_of(fact: Fact) -> Row:
    """Return a fact as it is stored."""
    found = content_hash(fact.content)
    return Row(found, fact.content, fact.source, fact.item, fact.kind, core.CANDIDATE, fact.confidence)


def checked(fact: Fact) -> str:
    """Return why a fact can't be stored, as a machine's word, "" if it can."""
    if not fact.content.strip():
        return "blank"
    if fact.hash and content_hash(fact.content) != fact.hash:
        return "hash_mismatch"
    return "secret" if redact(fact.content).counts else ""


def _stored(records: Records, fact: Fact) -> Outcome:
    wrong = checked(fact)
    if wrong:
        return Outcome(fact.hash, ok=False, error=wrong)
    row = row_of(fact)
    status, _ = records.ingest(row)
    return Outcome(row.hash, ok=True, status=status)


def _rebuilt(records: Records, record: Record) -> Outcome:
    outcome = _stored(records, record.fact)
    if outcome.ok and record.approved:
        given = record.fact.confidence
        status = records.promote(outcome.hash, CONFIDENCE if given is None else given)
        return outcome._replace(status=status)
    return outcome


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


def _hash_of(operation: Operation) -> str:
    return operation.fact.hash if isinstance(operation, Update) else operation.hash


def _failed(hashes: Sequence[str], problem: errors.LaminaError) -> list[Outcome]:
    """Return one outcome each for a core that could not be used at all."""
    if isinstance(problem, errors.CoreUnavailable):
        word = "damaged" if problem.damaged else "busy"
    else:
        word = problem.kind
    return [Outcome(each, ok=False, error=word) for each in hashes]


def _discard(path: Path) -> None:
    path.unlink(missing_ok=True)
    _discard_journal(path)


def _discard_journal(path: Path) -> None:
    """Remove the journal of a database that is replaced: it belongs to the old one."""
    Path(f"{os.fspath(path)}-journal").unlink(missing_ok=True)
