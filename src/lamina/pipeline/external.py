"""A semantic core of another system, by its `ingest.mjs` and `refine.mjs`.

A digest never depends on it: a failure of any kind is the outcome of the facts it was about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lamina.models.external import Failed
from lamina.pipeline.builtin import CONFIDENCE, checked
from lamina.pipeline.semantic import (
    Fact,
    Operation,
    Outcome,
    Promote,
    Purge,
    Record,
    Supersede,
    Update,
)

AT_ONCE = 200
INGEST, REFINE = "ingest.mjs", "refine.mjs"

Json = dict[str, Any]
Call = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Runs one of the two scripts with a request. Raises Failed."""


class External:
    """A core behind an environment variable."""

    broken = ""

    def __init__(self, name: str, vectors: Path, call: Call) -> None:
        self.name = f"env:{name}"
        self._vectors = vectors
        self._call = call

    def ingest(self, facts: Sequence[Fact]) -> list[Outcome]:
        """Store facts as candidates, some hundreds in one run."""
        wrong = {n: word for n, fact in enumerate(facts) if (word := checked(fact))}
        good = [fact for n, fact in enumerate(facts) if n not in wrong]
        outcomes = iter([each for part in _parts(good) for each in self._ingested(part)])
        return [
            Outcome(fact.hash, ok=False, error=wrong[n]) if n in wrong else next(outcomes)
            for n, fact in enumerate(facts)
        ]

    def refine(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Do operations in one run."""
        hashes = [_hash_of(each) for each in operations]
        request = {"dbPath": str(self._vectors), "operations": [_asked(each) for each in operations]}
        return self._outcomes(REFINE, request, hashes)

    def rebuild(self, records: Sequence[Record]) -> list[Outcome]:
        """Ingest everything and approve what is approved."""
        outcomes = self.ingest([record.fact for record in records])
        wanted = [
            Promote(
                record.fact.hash, CONFIDENCE if record.fact.confidence is None else record.fact.confidence
            )
            for record, outcome in zip(records, outcomes, strict=True)
            if record.approved and outcome.ok
        ]
        promoted = {each.hash: each for each in self.refine(wanted)} if wanted else {}
        return [promoted.get(each.hash, each) for each in outcomes]

    def _ingested(self, facts: Sequence[Fact]) -> list[Outcome]:
        request = {"dbPath": str(self._vectors), "items": [item_of(fact) for fact in facts]}
        return self._outcomes(INGEST, request, [fact.hash for fact in facts])

    def _outcomes(self, script: str, request: Json, hashes: Sequence[str]) -> list[Outcome]:
        try:
            reply = self._call(script, request)
        except Failed as failure:
            return [Outcome(each, ok=False, error=failure.word) for each in hashes]
        results = reply.get("results")
        if not isinstance(results, list) or len(results) != len(hashes):
            return [Outcome(each, ok=False, error="malformed") for each in hashes]
        return [_outcome(each, result) for each, result in zip(hashes, results, strict=True)]


def item_of(fact: Fact) -> Json:
    """Return a fact as one item of a request."""
    item: Json = {
        "content": fact.content,
        "sourceRef": fact.source,
        "itemId": fact.item,
        "kind": fact.kind,
        "contentHash": fact.hash,
    }
    return item if fact.confidence is None else item | {"confidence": fact.confidence}


def _outcome(wanted: str, result: object) -> Outcome:
    if not isinstance(result, Mapping):
        return Outcome(wanted, ok=False, error="malformed")
    if result.get("error") or result.get("ok") is False:
        return Outcome(wanted, ok=False, error=str(result.get("error") or "failed")[:80])
    named = result.get("content_hash", result.get("hash", wanted))
    if named != wanted:
        return Outcome(wanted, ok=False, error="hash_mismatch")
    return Outcome(wanted, ok=True, status=str(result.get("status") or ""))


def _asked(operation: Operation) -> Json:
    match operation:
        case Promote(found, confidence):
            return {"type": "promote", "hash": found, "confidence": confidence}
        case Update(old, fact):
            confidence = CONFIDENCE if fact.confidence is None else fact.confidence
            asked = {"type": "update", "oldHash": old, "content": fact.content, "sourceRef": fact.source}
            return asked | {"itemId": fact.item, "kind": fact.kind, "confidence": confidence}
        case Supersede(found, by, reason):
            more = {name: value for name, value in (("by", by), ("reason", reason)) if value}
            return {"type": "supersede", "hash": found, **more}
        case Purge(found):
            return {"type": "purge", "hash": found}


def _hash_of(operation: Operation) -> str:
    return operation.fact.hash if isinstance(operation, Update) else operation.hash


def _parts(facts: Sequence[Fact]) -> Iterator[Sequence[Fact]]:
    for start in range(0, len(facts), AT_ONCE):
        yield facts[start : start + AT_ONCE]
