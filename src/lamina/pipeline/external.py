"""A semantic core of another system, by its `ingest.mjs` and `refine.mjs`.

A digest never depends on it: a failure of any kind is the outcome of the facts it was about. It gets many
facts as `items`; a core that knows one at a time gets them one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lamina.models.external import Failed, Reply
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
    hash_of,
)

AT_ONCE = 200
INGEST, REFINE = "ingest.mjs", "refine.mjs"
MALFORMED = "malformed"
SINGLY_S = 60.0
"""Seconds for facts that are sent one at a time; what is left waits for another run."""
_GONE = frozenset({"timeout", "node_missing", "no_script", "not_started"})
_LONGEST_WORD = 80

Json = dict[str, Any]
Call = Callable[[str, Mapping[str, Any]], Reply]
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
        outcomes = iter(self._all_ingested(good))
        return [
            Outcome(fact.hash, ok=False, error=wrong[n]) if n in wrong else next(outcomes)
            for n, fact in enumerate(facts)
        ]

    def refine(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Do operations in one run."""
        if not operations:
            return []
        hashes = [hash_of(each) for each in operations]
        request = {"dbPath": str(self._vectors), "operations": [_asked(each) for each in operations]}
        try:
            return _outcomes(self._call(REFINE, request), hashes)
        except Failed as failure:
            return [Outcome(each, ok=False, error=failure.word) for each in hashes]

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
        promoted = {each.hash: each for each in self.refine(wanted)}
        return [promoted.get(each.hash, each) for each in outcomes]

    def _all_ingested(self, facts: Sequence[Fact]) -> list[Outcome]:
        """Send facts in parts; a core that is not there, or not in time, is not asked again."""
        outcomes: list[Outcome] = []
        for part in _parts(facts):
            outcomes += self._ingested(part)
            if outcomes[-1].error in _GONE:
                return [*outcomes, *_all(facts[len(outcomes) :], outcomes[-1].error)]
        return outcomes

    def _ingested(self, facts: Sequence[Fact]) -> list[Outcome]:
        if len(facts) == 1:
            return [self._one(facts[0])]
        request = {"dbPath": str(self._vectors), "items": [item_of(fact) for fact in facts]}
        try:
            return _outcomes(self._call(INGEST, request), [fact.hash for fact in facts])
        except Failed as failure:
            return _all(facts, failure.word) if failure.word in _GONE else self._singly(facts)

    def _singly(self, facts: Sequence[Fact]) -> list[Outcome]:
        """Send facts one at a time; where the first is not taken either, nothing else is tried."""
        until = time.monotonic() + SINGLY_S
        outcomes = [self._one(facts[0])]
        if not outcomes[0].ok:
            return _all(facts, outcomes[0].error)
        while len(outcomes) < len(facts) and time.monotonic() < until:
            outcomes.append(self._one(facts[len(outcomes)]))
        return [*outcomes, *_all(facts[len(outcomes) :], "timeout")]

    def _one(self, fact: Fact) -> Outcome:
        try:
            reply = self._call(INGEST, {"dbPath": str(self._vectors), **item_of(fact)})
            if "results" not in reply.said and ("content_hash" in reply.said or "hash" in reply.said):
                reply = reply._replace(said={"results": [reply.said]})
            return _outcomes(reply, [fact.hash])[0]
        except Failed as failure:
            return Outcome(fact.hash, ok=False, error=failure.word)


def _outcomes(reply: Reply, hashes: Sequence[str]) -> list[Outcome]:
    """Return what became of each; raises Failed for a reply that does not tell.

    A run that failed and names no culprit leaves it open what was done, so nothing was.
    """
    said, code = reply
    results = said.get("results")
    if not isinstance(results, list) or len(results) != len(hashes):
        refused = said.get("ok") is False or code != 0
        raise Failed(_word(said.get("error") or (f"exit_{code}" if refused else MALFORMED)))
    outcomes = [_outcome(each, result, code) for each, result in zip(hashes, results, strict=True)]
    if (code != 0 or said.get("ok") is False) and all(each.ok for each in outcomes):
        return [each._replace(ok=False, error=f"exit_{code}" if code else "failed") for each in outcomes]
    return outcomes


def _all(facts: Sequence[Fact], word: str) -> list[Outcome]:
    return [Outcome(fact.hash, ok=False, error=word) for fact in facts]


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


def _outcome(wanted: str, result: object, code: int) -> Outcome:
    if not isinstance(result, Mapping):
        return Outcome(wanted, ok=False, error=MALFORMED)
    if result.get("error") or result.get("ok") is False:
        return Outcome(wanted, ok=False, error=_word(result.get("error") or "failed"))
    named = result.get("content_hash", result.get("hash", wanted))
    if named != wanted:
        return Outcome(wanted, ok=False, error="hash_mismatch")
    if code and result.get("embedded") is False:
        return Outcome(wanted, ok=False, error="embedder")
    return Outcome(wanted, ok=True, status=str(result.get("status") or ""))


def _word(error: object) -> str:
    """Return an error as a machine's word, be it a text or an object with a kind."""
    if isinstance(error, Mapping):
        error = error.get("kind") or error.get("code") or error.get("message") or "failed"
    return " ".join(str(error).split())[:_LONGEST_WORD] or "failed"


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


def _parts(facts: Sequence[Fact]) -> Iterator[Sequence[Fact]]:
    for start in range(0, len(facts), AT_ONCE):
        yield facts[start : start + AT_ONCE]
