"""One run of a refine: gates, plan, approval, rewrite, promotion, verification, report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from lamina import errors
from lamina.formats.dates import parse_time, render_time
from lamina.formats.digest import HEADINGS, REFINE, Digest
from lamina.formats.digestreader import parse_digest
from lamina.formats.origin import key_of
from lamina.formats.structure import split_lines
from lamina.pipeline.digest.run import Cores
from lamina.pipeline.digest.sync import PENDING, UNAVAILABLE, Sync
from lamina.pipeline.digest.verify import daily_checks, on_disk, sync_check
from lamina.pipeline.refine import gates as gating
from lamina.pipeline.refine import promote as promoting
from lamina.pipeline.refine.personal import personal
from lamina.pipeline.refine.plan import DROP, MERGE, Plan
from lamina.pipeline.refine.rewrite import Final, finals, rewritten
from lamina.pipeline.verified import Check, require
from lamina.store import memoryfolder
from lamina.store.memoryfolder import Dailies, MemoryFolder

Make = Callable[[Digest], Plan]
"""Makes the plan of a digest, or reads one that was given back."""
Approve = Callable[["Report"], bool]
"""Shows a person what would be done and asks whether to do it."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did, or would do. `words` and `sha256` are before and after."""

    digest: str
    words: tuple[int, int] = (0, 0)
    sha256: tuple[str, str] = ("", "")
    plan: Plan = field(default_factory=lambda: Plan({}))
    sync: Sync = field(default_factory=lambda: Sync(""))
    limitations: tuple[str, ...] = ()
    sensitive: tuple[tuple[str, tuple[str, ...]], ...] = ()
    older: int = 0
    retried: bool = False
    wrote: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return it as programs read it: numbers of what was merged, resolved, dropped and in conflict."""
        merged = [each for each in self.plan.choices.values() if each.action == MERGE]
        gone = [each for each in self.plan.choices.values() if each.action == DROP]
        resolved = [each for each in gone if each.reason.lower().startswith("resolved")]
        dropped = [each for each in gone if each not in resolved]
        pairs = {frozenset((each.item.id, other)) for each in self.plan.kept for other in each.conflict}
        return {
            "digest": self.digest,
            "words": {"before": self.words[0], "after": self.words[1]},
            "sha256": {"before": self.sha256[0], "after": self.sha256[1]},
            "merged": len(merged),
            "resolved": len(resolved),
            "dropped": len(dropped),
            "conflicts": len(pairs),
            "sync": self.sync.as_json(),
            "limitations": list(self.limitations),
            "kept": len(self.plan.kept),
            "older": self.older,
            "items": [
                {"id": each.item.id, "action": each.action, "into": each.into, "reason": each.reason}
                for each in (*merged, *gone)
            ],
            "in_conflict": sorted(sorted(pair) for pair in pairs),
            "sensitive": [{"id": name, "found": list(found)} for name, found in self.sensitive],
            "retried": self.retried,
            "written": self.wrote,
        }


@dataclass(frozen=True, slots=True)
class Target:
    """The file to be refined. An explicit copy (`canonical` False) needs no approval."""

    folder: MemoryFolder
    path: Path
    canonical: bool

    @property
    def place(self) -> MemoryFolder:
        """The folder as the checks know it, with this file as its digest's folder."""
        return self.folder if self.canonical else MemoryFolder(self.path.parent, self.path.parent, "")


def read(target: Target) -> tuple[str, Digest]:
    """Read the digest. Raises NoSuchFile, UnsafePath, UnreadableFile."""
    text = memoryfolder.read(target.path)
    if text is None:
        raise errors.NoSuchFile(f"{target.path}: there is no digest", "`lamina digest` makes one")
    return text, parse_digest(text)


def stops(target: Target, digest: Digest, now: datetime) -> tuple[str, ...]:
    """Return the gates of a digest."""
    today = now.astimezone().date()
    return gating.gates(digest, target.path.name, today=today, canonical=target.canonical)


def run(  # noqa: PLR0913 - each is one decision of the caller
    target: Target,
    make: Make,
    cores: Cores,
    *,
    now: datetime,
    approve: Approve,
    given: bool = False,
    force: bool = False,
    dry_run: bool = False,
) -> Report:
    """Refine a digest, or ask the core again about what waits in one that is refined.

    The plan is made and approved before the folder is held; a digest that changed meanwhile is left alone
    (ChangedMeanwhile). `given` says that the plan is somebody's, so it must not be passed over. Raises
    Undecided for a gate that stops or for want of approval, BadInput for a plan that does not account for
    everything, VerificationFailed with the old bytes restored.
    """
    text, digest = read(target)
    found = stops(target, digest, now)
    gating.require(found, digest, target.path.name, force=force)
    if gating.RETRY in found and not force:
        if given:
            raise errors.Undecided(
                f"{target.path.name}: is refined already, only its {len(digest.pending)} pending hashes wait",
                "the plan was not applied",
                choices=("lamina refine", "lamina refine --force --apply FILE"),
            )
        return _retried(target, cores, dry_run=dry_run)
    plan = make(digest)
    report = _planned(target, text, digest, plan, now)
    if dry_run:
        return report
    if target.canonical and not approve(report):
        raise errors.Undecided(
            f"{target.path.name}: a person must approve that the digest is rewritten",
            f"{report.words[0]} words become {report.words[1]}; nothing was written",
            choices=("lamina refine --yes", "lamina refine --plan"),
        )
    with memoryfolder.locked(target.place):
        if memoryfolder.read(target.path) != text:
            raise errors.ChangedMeanwhile(f"{target.path}: changed meanwhile", "run the command again")
        return _written(target, text, digest, report, cores, now)


def _planned(target: Target, text: str, digest: Digest, plan: Plan, now: datetime) -> Report:
    stays = finals(plan)
    after = rewritten(digest, stays, target=target.folder.root.name, now=now, status="", pending=())
    odd = tuple(f"{target.path.name}:{each.line}: {each.message}" for each in digest.problems)
    legacy = sum(item.legacy for item in digest.current.values())
    told: tuple[str, ...] = (
        (f"{legacy} items had no marker: reduced reconciliation confidence, only their words tell them",)
        if legacy
        else ()
    )
    flagged = tuple((each.item.id, found) for each in stays if (found := personal(each.item.text)))
    if flagged:
        told += (f"{len(flagged)} items hold what looks like personal data",)
    older = len(digest.items) - len(digest.current)
    return Report(
        str(target.path), (len(text.split()), len(after.split())), (_hash(text), _hash(after)), plan,
        Sync(digest.status, digest.pending), (*odd, *plan.limitations, *told), flagged, older,
    )  # fmt: skip


def _written(
    target: Target, text: str, digest: Digest, report: Report, cores: Cores, now: datetime
) -> Report:
    dailies = memoryfolder.read_dailies(target.place)
    stays = finals(report.plan)
    core, reason = cores()
    first = rewritten(
        digest, stays, target=target.folder.root.name, now=now,
        status=UNAVAILABLE if core is None else PENDING, pending=promoting.waiting(digest, stays, core),
    )  # fmt: skip
    memoryfolder.replace(target.path, first, old=text)
    done = promoting.promote(core, reason, digest, stays)
    final = promoting.with_sync(first, done.sync, done.approved)
    if final != first:
        memoryfolder.replace(target.path, final, old=first)
    checks = _checks(target, digest, stays, done, final, dailies=dailies, now=now)
    require(checks, target.path, ours=final, old=text)
    return Report(
        report.digest, (report.words[0], len(final.split())), (report.sha256[0], _hash(final)), report.plan,
        done.sync, (*report.limitations, *done.sync.limitations), report.sensitive, report.older, wrote=True,
    )  # fmt: skip


def _retried(target: Target, cores: Cores, *, dry_run: bool) -> Report:
    """Ask the core again; without one no byte changes."""
    with memoryfolder.locked(target.place):
        text, digest = read(target)
        words, said = len(text.split()), _hash(text)
        core, reason = cores()
        if core is None or dry_run:
            told = (
                f"{len(digest.pending)} hashes wait for a semantic core" + (f": {reason}" if reason else ""),
            )
            stands = Sync(digest.status, digest.pending)
            return Report(
                str(target.path), (words, words), (said, said), sync=stands, limitations=told, retried=True
            )
        dailies = memoryfolder.read_dailies(target.place)
        done = promoting.again(core, digest)
        final = promoting.with_sync(text, done.sync, done.approved)
        if final != text:
            memoryfolder.replace(target.path, final, old=text)
        require(_retry_checks(target, digest, done.sync, final, dailies), target.path, ours=final, old=text)
        return Report(
            str(target.path), (words, len(final.split())), (said, _hash(final)), sync=done.sync,
            limitations=done.sync.limitations, retried=True, wrote=final != text,
        )  # fmt: skip


def _checks(  # noqa: PLR0913 - everything that was known before the write
    target: Target, before: Digest, stays: Sequence[Final], done: promoting.Promoted, text: str,
    *, dailies: Dailies, now: datetime,
) -> Iterator[Check]:  # fmt: skip
    """Yield the seed's checks, on the bytes on disk."""
    there = on_disk(target.path)
    yield "the digest holds the bytes that were written", there == text
    after = parse_digest(there)
    yield "the digest can be read", after.fatal is None
    yield "the first line is as it was", _first_line(there) == _first_line(before.text)
    refine, state = after.refine, before.state
    yield (
        "the refine marker stands on the second line and matches what was processed",
        (
            after.places.get(REFINE) == 1
            and refine is not None
            and state is not None
            and refine.get("refined-through") == state.get("processed-through")
            and parse_time(refine.get("last-run")) == parse_time(render_time(now))
        ),
    )
    yield sync_check(after, done.sync)
    lines = [line.rstrip("\r\n") for line in split_lines(there)]
    yield "no list stands twice", all(lines.count(f"**{name}**:") <= 1 for name in HEADINGS.values())
    yield "nothing stands behind the refined part", not after.sections
    yield (
        "every item has id, source and hash",
        all(item.id and item.sources and item.hash == item.content for item in after.refined),
    )
    said = [(item.id, item.hash, item.sources) for item in after.refined]
    meant = [(each.item.id, each.item.hash, each.item.sources) for each in stays]
    yield "every item that stays is there", sorted(said) == sorted(meant)
    yield (
        "an item is approved exactly if the core said so",
        all((item.sync == "approved") == (item.hash in done.approved) for item in after.refined),
    )
    yield "what a person wrote above the items is there", after.preamble == before.preamble
    yield "no source was lost", {key_of(ref) for ref in before.named} <= after.covered
    yield from daily_checks(target.place, dailies)


def _retry_checks(target: Target, before: Digest, sync: Sync, text: str, dailies: Dailies) -> Iterator[Check]:
    there = on_disk(target.path)
    yield "the digest holds the bytes that were written", there == text
    after = parse_digest(there)
    yield sync_check(after, sync)
    said = [(item.id, item.bullet, item.hash, item.sources) for item in after.items]
    meant = [(item.id, item.bullet, item.hash, item.sources) for item in before.items]
    yield "no knowledge was rewritten", said == meant
    yield "the first line is as it was", _first_line(there) == _first_line(before.text)
    yield from daily_checks(target.place, dailies)


def _first_line(text: str) -> str:
    return next(iter(split_lines(text)), "")


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
