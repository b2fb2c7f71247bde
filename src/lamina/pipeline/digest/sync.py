"""The digest and the semantic core: which hashes wait, what is sent, and how it stands afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lamina.formats.digest import Digest, Item
from lamina.pipeline.semantic import BUILTIN, Core, Fact, Outcome, Record, Supersede

UNAVAILABLE, PENDING, SYNCED = "unavailable", "pending", "synced"
MISMATCH = "hash_mismatch"
FUSED, SURVIVED, OPEN = 0.9, 0.8, 0.6
"""Confidence of what was merged, of what survived, of an action that is still open."""
UNANSWERED = "malformed"


@dataclass(frozen=True, slots=True)
class Sync:
    """How the core stands: the hashes that wait for another run, in order, and what a person should know."""

    status: str
    pending: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return it as programs read it."""
        return {"status": self.status, "pending": list(self.pending)}


def fact_of(item: Item, confidence: float | None = None) -> Fact:
    """Return an item as the core gets it; its hash is what the marker says."""
    source = item.sources[0] if item.sources else ""
    return Fact(item.text, item.hash or item.content, source, item.id, item.kind, confidence)


def confidence(item: Item, *, fused: bool) -> float:
    """Return how sure the core may be of an item that is approved."""
    return OPEN if item.kind == "open" else FUSED if fused else SURVIVED


def is_fused(item: Item) -> bool:
    """Tell whether an item took in others, by its marker."""
    return item.marker is not None and bool(item.marker.get("merged"))


def with_hash(digest: Digest) -> dict[str, Item]:
    """Return the items by hash, the marker's or that of the text; older wordings are among them."""
    found = {item.content: item for item in digest.items if not item.hash}
    return found | {item.hash: item for item in digest.items if item.hash}


def records(digest: Digest) -> list[Record]:
    """Return what a core holds of a digest: approved items, and the current ones of the others."""
    found: dict[str, Record] = {}
    for item in digest.items:
        approved = item.sync == "approved"
        if (approved or digest.current[item.id] is item) and not item.edited:
            fact = fact_of(item, confidence(item, fused=is_fused(item)) if approved else None)
            if approved or fact.hash not in found:
                found[fact.hash] = Record(fact, approved)
    return list(found.values())


def is_retried(digest: Digest | None, core: Core | None) -> bool:
    """Tell whether a run without new sessions has something to ask the core."""
    if digest is None or core is None:
        return False
    return bool(_waiting(digest)) or (core.broken == "missing" and bool(digest.items))


def settle(
    core: Core | None, reason: str, digest: Digest, new: Sequence[Item], before: Digest | None
) -> Sync:
    """Send what waits as candidates; the digest is the file as it stands, with `new` in it and in its header.

    A wording that a newer one took the place of is not sent any more. `reason` tells why there is no core.
    `before` is the digest without `new`: an item that said something else there leaves that wording behind.
    """
    waiting, kept = _waiting(digest), _kept(digest)
    replaced = frozenset(_replaced(new, before))
    if core is None:
        pending = tuple(found for found in digest.pending if found not in replaced)
        return Sync(UNAVAILABLE, pending, (f"semantic synchronisation was not available: {reason}",))
    by_hash = with_hash(digest)
    gone = tuple(found for found in waiting if found not in by_hash)
    asked = [by_hash[found] for found in waiting if found in by_hash]
    wanted = [item for item in asked if digest.current[item.id] is item]
    asked_for = frozenset(waiting)
    wanted += [item for item in new if item.hash not in asked_for]
    again = records(digest) if _is_lost(core, before) else ()
    outcomes = sent(core, wanted, again=again)
    failed = {each.hash: each.error or "failed" for each in outcomes if not each.ok}
    if core.name == BUILTIN and not again:
        retire(core, digest, frozenset(each.hash for each in outcomes if each.ok))
    pending = tuple(dict.fromkeys((*kept, *failed)))
    told = [f"{len(gone)} pending hashes belong to no item any more and were dropped"] if gone else []
    told += [f"{found[:12]}… was not taken by the semantic core: {why}" for found, why in failed.items()]
    if kept:
        told.append(f"{len(kept)} hashes wait for `lamina refine`")
    return Sync(PENDING if pending else SYNCED, pending, tuple(told))


def sent(core: Core, items: Iterable[Item], *, again: Sequence[Record] = ()) -> list[Outcome]:
    """Ingest items; one whose text is no longer what its hash says is not sent, it failed already.

    With `again` the core's records are made anew of these, which hold the items.
    """
    listed = list(items)
    bad = [Outcome(item.hash, ok=False, error=MISMATCH) for item in listed if item.edited]
    if again:
        return [*bad, *answered([each.fact.hash for each in again], core.rebuild(again))]
    facts = [fact_of(item) for item in listed if not item.edited]
    return [*bad, *answered([fact.hash for fact in facts], core.ingest(facts) if facts else [])]


def answered(hashes: Sequence[str], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Hold a core's outcomes against what it was sent, in order: what it leaves out or mixes up failed."""
    told: list[Outcome] = []
    for number, wanted in enumerate(hashes):
        each = outcomes[number] if number < len(outcomes) else Outcome(wanted, ok=False, error=UNANSWERED)
        mixed = each.ok and each.hash != wanted
        told.append(Outcome(wanted, ok=False, error=MISMATCH) if mixed else each._replace(hash=wanted))
    return told


def retire(core: Core, digest: Digest, stored: frozenset[str]) -> None:
    """Take candidates out of force whose items have a newer wording that the core took just now."""
    alive = {item.hash or item.content for item in digest.current.values()}
    for item in digest.items:
        new, old = digest.current[item.id], item.hash or item.content
        by = new.hash or new.content
        if item.sync != "approved" and old not in alive and by in stored:
            core.refine([Supersede(old, by=by, reason="reworded")])


def _is_lost(core: Core, before: Digest | None) -> bool:
    """Tell whether the core's records must be made anew: they are gone, or damaged since an earlier run."""
    if before is None:
        return False
    return bool(before.items if core.broken == "missing" else core.broken == "damaged" and before.pending)


def _waiting(digest: Digest) -> tuple[str, ...]:
    """Return the pending hashes that this stage may send: what refining left behind is not its own."""
    kept = frozenset(_kept(digest))
    return tuple(found for found in digest.pending if found not in kept)


def _kept(digest: Digest) -> tuple[str, ...]:
    """Return the pending hashes that only refining can settle: of refined items, and of retired ones."""
    if digest.refine is None:
        return ()
    by_hash = with_hash(digest)
    return tuple(found for found in digest.pending if found not in by_hash or not by_hash[found].section)


def _replaced(new: Sequence[Item], before: Digest | None) -> Iterator[str]:
    for item in new:
        old = before.current.get(item.id) if before else None
        if old is not None:
            yield old.hash or old.content
