"""The digest and the semantic core: which hashes wait, what is sent, and how it stands afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lamina.formats.digest import Digest, Item
from lamina.pipeline.semantic import BUILTIN, Core, Fact, Outcome, Record, Supersede

UNAVAILABLE, PENDING, SYNCED = "unavailable", "pending", "synced"
MISMATCH = "hash_mismatch"


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
            fact = fact_of(item)
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
    rebuilt = _rebuilt(core, digest, before)
    by_hash = with_hash(digest)
    gone = tuple(found for found in waiting if found not in by_hash)
    asked = [by_hash[found] for found in waiting if found in by_hash]
    wanted = [item for item in asked if digest.current[item.id] is item]
    wanted += [item for item in new if item.hash not in waiting]
    outcomes = rebuilt if rebuilt is not None else sent(core, wanted)
    failed = {each.hash: each.error or "failed" for each in outcomes if not each.ok}
    if core.name == BUILTIN and replaced and rebuilt is None:
        retire(core, before, new, failed)
    pending = tuple(dict.fromkeys((*kept, *failed)))
    told = [f"{len(gone)} pending hashes belong to no item any more and were dropped"] if gone else []
    told += [f"{found[:12]}… was not taken by the semantic core: {why}" for found, why in failed.items()]
    if kept:
        told.append(f"{len(kept)} hashes wait for `lamina refine`")
    return Sync(PENDING if pending else SYNCED, pending, tuple(told))


def sent(core: Core, items: Iterable[Item]) -> list[Outcome]:
    """Ingest items; one whose text is no longer what its hash says is not sent, it failed already."""
    listed = list(items)
    good = [item for item in listed if not item.edited]
    bad = [Outcome(item.hash, ok=False, error=MISMATCH) for item in listed if item.edited]
    return [*bad, *core.ingest([fact_of(item) for item in good])] if good else bad


def retire(core: Core, before: Digest | None, new: Sequence[Item], failed: Iterable[str]) -> None:
    """Take the older candidate wordings of changed items out of force, once the newer ones are in."""
    lost = frozenset(failed)
    for item in new:
        old = before.current.get(item.id) if before else None
        if old is not None and old.sync != "approved" and item.hash not in lost:
            core.refine([Supersede(old.hash or old.content, by=item.hash, reason="reworded")])


def _rebuilt(core: Core, digest: Digest, before: Digest | None) -> list[Outcome] | None:
    """Make the core's records anew where they are gone, or damaged since an earlier run; else None."""
    lost = core.broken == "missing" and before is not None and bool(before.items)
    hurt = core.broken == "damaged" and before is not None and bool(before.pending)
    return core.rebuild(records(digest)) if lost or hurt else None


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
