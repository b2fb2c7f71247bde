"""What survived a refine is approved in the semantic core, what did not is retired (the seed's section 4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from lamina.formats.digest import Digest, setting_header, sync_marker
from lamina.formats.digestreader import parse_digest
from lamina.formats.structure import split_lines
from lamina.pipeline.digest.sync import (
    MISMATCH,
    PENDING,
    SYNCED,
    UNAVAILABLE,
    Sync,
    answered,
    confidence,
    fact_of,
    is_fused,
)
from lamina.pipeline.refine.rewrite import Final
from lamina.pipeline.semantic import (
    BUILTIN,
    Core,
    Operation,
    Outcome,
    Promote,
    Purge,
    Record,
    Supersede,
    Update,
    hash_of,
)

GONE = frozenset({"not_found", "purged", "superseded", "already_superseded"})
"""What a core says of a record that need not be retired any more."""
ROLLED_BACK = "rolled_back"
WAITS = "new_words_wait"
"""Why an approved record is not retired yet."""


@dataclass(frozen=True, slots=True)
class Promoted:
    """How the core stands, and the hashes that it approved."""

    sync: Sync
    approved: frozenset[str]


def obsolete(before: Digest, stays: Iterable[Final], core: str) -> tuple[str, ...]:
    """Return the hashes that no item has any more and that a core must retire.

    Approved ones, and those that waited before; in the built-in core the candidates of older wordings, too.
    """
    alive = {each.item.hash for each in stays}
    said = [item for item in before.items if item.sync == "approved" or core == BUILTIN]
    hashes = dict.fromkeys((*before.pending, *(item.hash or item.content for item in said)))
    return tuple(found for found in hashes if found not in alive)


def waiting(before: Digest, stays: Sequence[Final], core: Core | None) -> tuple[str, ...]:
    """Return the hashes that are pending before anything was asked: what waited first, then what is new."""
    wanted = dict.fromkeys(each.item.hash for each in stays if each.item.sync != "approved")
    first = [found for found in before.pending if found in wanted]
    old = obsolete(before, stays, core.name if core else "")
    return tuple(dict.fromkeys((*first, *wanted, *old)))


def promote(core: Core | None, reason: str, before: Digest, stays: Sequence[Final]) -> Promoted:
    """Approve what stays and retire what does not; `reason` tells why there is no core.

    What waited before comes first. A record whose item has new words is updated; a new one is ingested and
    then promoted, never the other way round.
    """
    if core is None:
        told = (f"semantic synchronisation was not available: {reason}",)
        return Promoted(Sync(UNAVAILABLE, waiting(before, stays, None), told), _standing(stays))
    if core.broken in ("missing", "damaged") and (core.broken == "missing" or before.pending):
        return _rebuilt(core, stays)
    outcomes = _approved(core, before, stays)
    ok = frozenset(each.hash for each in outcomes if each.ok)
    failed = {each.hash: each.error or "failed" for each in outcomes if not each.ok}
    approved = ok | _standing(stays)
    for found, why in _retired(core, before, stays, approved).items():
        failed.setdefault(found, why)
    return Promoted(_sync(failed), approved)


def with_sync(text: str, sync: Sync, approved: frozenset[str]) -> str:
    """Return a refined digest with the markers as they are now; its words and every other line stay."""
    digest = parse_digest(text)
    new: dict[str, str] = {}
    for item in digest.refined:
        marker = item.marker
        if marker is not None and item.hash in approved and item.sync != "approved":
            new[marker.raw] = str(marker.setting("sync", "approved"))
    lines = split_lines(setting_header(digest, sync=sync_marker(digest.sync, sync.status, sync.pending)))
    for number, line in enumerate(lines):
        bare = line.rstrip("\r\n")
        if bare in new:
            lines[number] = new[bare] + line[len(bare) :]
    return "".join(lines)


def again(core: Core, digest: Digest) -> Promoted:
    """Ask the core once more about what waits in a refined digest (sync-retry mode)."""
    wanted = set(digest.pending)
    stays = [Final(item, fused=is_fused(item)) for item in digest.refined]
    if core.broken in ("missing", "damaged"):
        return _rebuilt(core, stays)
    asked = [each for each in stays if each.item.hash in wanted]
    bad = [Outcome(each.item.hash, ok=False, error=MISMATCH) for each in asked if each.item.edited]
    outcomes = [*bad, *_ingested(core, [each for each in asked if not each.item.edited])]
    ok = frozenset(each.hash for each in outcomes if each.ok)
    failed = {each.hash: each.error or "failed" for each in outcomes if not each.ok}
    alive = {each.item.hash for each in stays}
    gone = [found for found in digest.pending if found not in alive]
    failed |= _retire(core, gone)
    return Promoted(_sync(failed), ok | _standing(stays))


def _sync(failed: dict[str, str]) -> Sync:
    told = tuple(f"{found[:12]}… was not taken by the semantic core: {why}" for found, why in failed.items())
    return Sync(PENDING if failed else SYNCED, tuple(failed), told)


def _standing(stays: Iterable[Final]) -> frozenset[str]:
    return frozenset(each.item.hash for each in stays if each.item.sync == "approved")


def _rebuilt(core: Core, stays: Sequence[Final]) -> Promoted:
    """Make the core's records anew of what stays."""
    good = [each for each in stays if not each.item.edited]
    records = [
        Record(fact_of(each.item, confidence(each.item, fused=each.fused)), approved=True) for each in good
    ]
    hashes = [record.fact.hash for record in records]
    outcomes = answered(hashes, core.rebuild(records))
    outcomes += [Outcome(each.item.hash, ok=False, error=MISMATCH) for each in stays if each.item.edited]
    failed = {each.hash: each.error or "failed" for each in outcomes if not each.ok}
    return Promoted(_sync(failed), frozenset(each.hash for each in outcomes if each.ok))


def _approved(core: Core, before: Digest, stays: Sequence[Final]) -> list[Outcome]:
    """Update what was approved in other words, ingest and promote the rest; what waited goes first."""
    first = {found: n for n, found in enumerate(before.pending)}
    wanted = [each for each in stays if each.item.sync != "approved"]
    wanted.sort(key=lambda each: first.get(each.item.hash, len(first)))
    alive = {each.item.hash for each in stays}
    updates = {each.item.hash: found for each in wanted if (found := _update(each, alive))}
    outcomes = _each(core, list(updates.values()))
    unknown = {each.hash for each in outcomes if not each.ok and each.error in GONE}
    left = [each for each in wanted if each.item.hash not in updates or each.item.hash in unknown]
    kept = [each for each in outcomes if each.hash not in unknown]
    return [*kept, *_ingested(core, left)]


def _update(each: Final, alive: Collection[str]) -> Update | None:
    """Return how an item's new words take the place of its approved ones; None without such.

    Words that another item still has stay in force: an update would take them away from it.
    """
    old = next((found for found in reversed(each.before) if found not in alive), None)
    return Update(old, fact_of(each.item, confidence(each.item, fused=each.fused))) if old else None


def _ingested(core: Core, stays: Sequence[Final]) -> list[Outcome]:
    """Ingest and then promote what was ingested."""
    if not stays:
        return []
    facts = [fact_of(each.item, confidence(each.item, fused=each.fused)) for each in stays]
    stored = answered([fact.hash for fact in facts], core.ingest(facts))
    good = [(each, outcome) for each, outcome in zip(stays, stored, strict=True) if outcome.ok]
    asked = [Promote(outcome.hash, confidence(each.item, fused=each.fused)) for each, outcome in good]
    promoted = iter(_each(core, asked))
    return [next(promoted) if outcome.ok else outcome for outcome in stored]


def _retired(core: Core, before: Digest, stays: Sequence[Final], approved: frozenset[str]) -> dict[str, str]:
    """Retire what no item says any more; returns what is left to be retired, and why.

    The old words of an item whose new ones were not approved stay for now, and wait for the next run.
    """
    gone = obsolete(before, stays, core.name)
    held = {found for each in stays if each.item.hash not in approved for found in each.before}
    waits = {found: WAITS for found in gone if found in held}
    return waits | _retire(core, [found for found in gone if found not in held])


def _retire(core: Core, hashes: Sequence[str]) -> dict[str, str]:
    """Supersede and purge records, both in one call; returns what failed and why."""
    why = "no longer in the digest"
    groups = [(Supersede(found, reason=why), Purge(found)) for found in hashes]
    failed: dict[str, str] = {}
    for found, outcomes in zip(hashes, _done(core, groups), strict=True):
        errors = [each.error or "failed" for each in outcomes if not each.ok]
        error = next((each for each in errors if each != ROLLED_BACK), next(iter(errors), ""))
        if error and error not in GONE:
            failed[found] = error
    return failed


def _each(core: Core, operations: Sequence[Operation]) -> list[Outcome]:
    """Do operations, none of which fails for the sake of another."""
    return [outcome for (outcome,) in _done(core, [(each,) for each in operations])]


def _done(core: Core, groups: Sequence[Sequence[Operation]]) -> list[list[Outcome]]:
    """Do groups of operations in one call; one that fails takes back all, so then each half is done alone."""
    if not groups:
        return []
    operations = [each for group in groups for each in group]
    told = iter(answered([hash_of(each) for each in operations], core.refine(operations)))
    outcomes = [[next(told) for _ in group] for group in groups]
    if len(groups) == 1 or not any(each.error == ROLLED_BACK for group in outcomes for each in group):
        return outcomes
    half = len(groups) // 2
    return [*_done(core, groups[:half]), *_done(core, groups[half:])]
