"""Refresh: stale entries are shown to a model beside what their repository says today.

The model may confirm, correct or end an entry, and only where the repository was heard: without proof nothing
changes. Its words are checked against the entry and its proof, what a person said or vouches for stays in
force, and an entry that changed meanwhile is left alone. Each batch is asked outside the store's lock and
written in one write with the mark that it was asked, so a killed run loses at most one answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.formats.dates import parse_time, render_time
from lamina.formats.entry import with_field
from lamina.formats.evidence import quoted, render_evidence
from lamina.formats.reply import Reply, parse_refresh
from lamina.formats.scope import Scope
from lamina.pipeline import changes
from lamina.pipeline.proof import Proof, gather, repository_of
from lamina.pipeline.redact import redact
from lamina.pipeline.stale import PURPOSE, TEXT_BYTES, Stale, groups, prompt_for, shown_text, stale
from lamina.pipeline.verdict import BOTH, KEEP, UPDATE, Verdict, stays, unfit, verdicts
from lamina.store import exchange, files, locks, log, tracked
from lamina.store.tombstones import Graves

if TYPE_CHECKING:
    from lamina.pipeline.asking import Asker
    from lamina.store.store import Store
    from lamina.store.write import Writing

MARKS = "state/refresh.json"
LIMIT = 20
"""Entries in one pass."""

_AT_ONCE = 20
_REMEMBERED = 2_000
_RETRY = timedelta(minutes=15)
_KEPT = Verdict(KEEP)


@dataclass(frozen=True, slots=True)
class Pace:
    """How often, how many and how much: seconds between passes, entries in one, bytes of a prompt."""

    every_s: int = 86_400
    limit: int = LIMIT
    bytes: int = 48_000


Review = Callable[[Scope], str]
"""Says the setting `review` for what belongs to a scope."""


@dataclass(slots=True)
class Refreshed:
    """What a pass did, by id. `proofs` holds the evidence of each entry looked at.

    `stale` counts all that are stale or expired, `unproven` those looked at without evidence, `left` those
    that no line of a reply settled. `rejected` says why a line was not followed, `parse_failed` that a reply
    could not be read at all, `problem` why a model could not be asked.
    """

    stale: int = 0
    looked_at: list[Stale] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    candidates: list[str] = field(default_factory=list)
    unproven: int = 0
    left: int = 0
    rejected: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    parse_failed: bool = False
    problem: errors.LaminaError | None = None

    def take(self, did: Refreshed) -> None:
        """Add what one group came to."""
        self.kept += did.kept
        self.updated += did.updated
        self.superseded += did.superseded
        self.candidates += did.candidates
        self.left += did.left
        self.rejected |= did.rejected


@dataclass(frozen=True, slots=True)
class _Run:
    """What one pass works with."""

    store: Store
    now: datetime
    pace: Pace
    review: Review


def refresh(  # noqa: PLR0913 - the whole of what decides; each has one meaning
    store: Store,
    *,
    asker: Asker | None,
    now: datetime,
    pace: Pace = Pace(every_s=0),
    proof: Proof | None = None,
    review: Review = lambda _: "doubtful",
    dry_run: bool = False,
) -> Refreshed:
    """Check the entries that were asked about longest ago, and of those the ones verified longest ago.

    What was asked within `pace.every_s` seconds is left out; 0 asks in any case. `dry_run` gathers the proof
    and asks nobody. Raises Busy while another pass runs.
    """
    done, run = Refreshed(), _Run(store, now, pace, review)
    if dry_run or asker is None:
        _pass(run, None, proof or partial(gather, store), done)
        return done
    with locks.lock(store.layout.lock(PURPOSE), timeout_s=0):
        _pass(run, asker, proof or partial(gather, store), done)
        if done.problem is None:
            _mark(store, now)
    return done


def is_due(store: Store, now: datetime, every_s: int) -> bool:
    """Tell whether a pass is due: the last is `every_s` seconds old, a failed one a quarter of an hour."""
    marks = _marks(store)
    since, tried = parse_time(marks["at"]), parse_time(marks["tried"])
    old = since is None or not timedelta(0) <= now - since < timedelta(seconds=every_s)
    return old and (tried is None or not timedelta(0) <= now - tried < _RETRY)


# --- one pass ---------------------------------------------------------------------------------------


def _pass(run: _Run, asker: Asker | None, proof: Proof, done: Refreshed) -> None:
    every = stale(run.store, run.now)
    done.stale = len(every)
    chosen = _chosen(every, _marks(run.store)["asked"], run.now, run.pace)
    for start in range(0, len(chosen), _AT_ONCE):
        some = chosen[start : start + _AT_ONCE]
        proofs = proof([each.located for each in some])
        proven = [each._replace(proof=tuple(proofs.get(each.id, ()))) for each in some]
        done.looked_at += proven
        done.unproven += sum(not each.proof for each in proven)
        if asker is None:
            continue
        for group in groups(proven, run.pace.bytes):
            if not _group(run, asker, group, done):
                return


def _chosen(every: Sequence[Stale], asked: Mapping[str, str], now: datetime, pace: Pace) -> list[Stale]:
    """Choose the entries of a pass: those never asked about first, then those asked longest ago."""

    def recent(each: Stale) -> bool:
        at = parse_time(asked.get(each.id, ""))
        return at is not None and timedelta(0) <= now - at < timedelta(seconds=pace.every_s)

    waiting = [each for each in every if not recent(each)]
    return sorted(waiting, key=lambda each: asked.get(each.id, ""))[: pace.limit]


def _group(run: _Run, asker: Asker, group: Sequence[Stale], done: Refreshed) -> bool:
    """Ask about one group and write what follows; False where no model can be asked any more."""
    reply = Reply()
    if any(each.proof for each in group):  # without any proof no answer could change anything
        prompt = prompt_for(group)
        try:
            answer = asker.ask(PURPOSE, prompt).reply
        except errors.NoModelAnswered as silence:
            if not silence.replied:
                return _stopped(run, silence, done)
            done.calls += 1
            done.parse_failed = True
        except errors.CapReached as cap:
            return _stopped(run, cap, done)
        else:
            done.calls += 1
            reply = parse_refresh(answer.text, answer.cut)
            done.parse_failed |= not reply.usable
            asked = prompt.whole
            exchange.keep(
                run.store.layout, PURPOSE, prompt=redact(asked).text, reply=redact(answer.text).text,
                at=run.now, failed=not reply.usable,
            )  # fmt: skip
    _write(run, group, reply, done)
    return True


def _stopped(run: _Run, problem: errors.LaminaError, done: Refreshed) -> bool:
    store, now = run.store, run.now
    done.problem = problem
    marks = _marks(store)
    files.write_text(store.root / MARKS, _rendered(marks | {"tried": render_time(now)}), durable=False)
    log.log(store.layout, "refresh_waits", at=now, reason=redact(problem.message).text)
    return False


# --- what follows from a reply ----------------------------------------------------------------------


def _write(run: _Run, group: Sequence[Stale], reply: Reply, done: Refreshed) -> None:
    """Write all that one reply changes, and that these entries were asked about, at once."""
    said = verdicts(reply)
    changed = [each for each in group if each.proof and said.get(each.id, _KEPT).verb != KEEP]
    scopes = {each.located.scope for each in changed}
    heads = _heads(run.store, scopes)
    reviews = {scope: run.review(scope) for scope in scopes}
    did = Refreshed(rejected=dict.fromkeys(said.keys() - {each.id for each in group}, "was not shown"))
    try:
        with run.store.writing(label=PURPOSE, at=run.now) as batch:
            for each in group:
                scope = each.located.scope
                one = _One(batch, each, heads.get(scope, ""), reviews.get(scope, ""), did)
                one.settle(said.get(each.id))
            _asked(batch, [each.id for each in group], run.now)
    except errors.ChangedMeanwhile as problem:  # a person is at one of the files: the next pass asks again
        did = Refreshed(left=len(group), rejected={each.id: problem.message for each in group})
    done.take(did)


def _heads(store: Store, scopes: Collection[Scope]) -> dict[Scope, str]:
    """Return the commit that each scope's repository is at."""
    tops = {scope: repository_of(store, scope) for scope in scopes}
    return {scope: tracked.head_commit(top) for scope, top in tops.items() if top}


@dataclass(frozen=True, slots=True)
class _One:
    """One entry of a group on its way into the batch."""

    batch: Writing
    each: Stale
    head: str
    review: str
    done: Refreshed

    def settle(self, said: Verdict | None) -> None:
        """Do what was said of the entry, or note why not."""
        if said is None:
            self.done.left += 1
            return
        said = said._replace(text=redact(said.text).text)
        why_not = self._objection(said)
        if why_not:
            self.done.rejected[self.each.id] = why_not
        elif said.verb == KEEP or (said.verb == UPDATE and changes.says(self.each.located.entry, said.text)):
            self.batch.change(self.each.id, lambda entry: with_field(entry, "Verified", str(self._day)))
            self.done.kept.append(self.each.id)
        else:
            self._change(said)

    def _change(self, said: Verdict) -> None:
        id_ = self.each.id
        source = f"git:{self.head}" if self.head else ""
        revision = changes.Revision(said.text, source, _quote(self.each.proof, said.text), self._day)
        if stays(self.each.located, said, review=self.review):
            written = changes.beside(self.batch, id_, revision)
            if written is None:
                self.done.rejected[id_] = "stands beside it already"
            else:
                self.done.candidates.append(written.id)
        elif said.verb == UPDATE:
            changes.update(self.batch, id_, revision)
            self.done.updated.append(id_)
        else:
            changes.supersede(self.batch, id_, day=self._day, reason=said.text)
            self.done.superseded.append(id_)

    def _objection(self, said: Verdict) -> str:
        """Say why what the model said of the entry may not be done, "" if it may."""
        each = self.each
        if said.verb == BOTH:
            return "was answered in two ways"
        if not each.proof:
            return "there was no evidence"
        now = self.batch.find(each.id)
        if now is None or now.raw.strip() != each.located.entry.raw.strip():
            return "was changed meanwhile"
        if said.verb == KEEP or (said.verb == UPDATE and changes.says(now, said.text)):
            return ""
        return self._unfit(said)

    def _unfit(self, said: Verdict) -> str:
        each = self.each
        shown = shown_text(each.located.entry)
        if said.verb == UPDATE and len(shown.encode()) >= TEXT_BYTES - 4:
            return "is too long to be worded anew"
        if why_not := unfit(said, shown, each.proof, day=self._day):
            return why_not
        filed = changes.filed(each.located.layer, said.text, self._day)
        buried = Graves.load(self.batch.store, each.located.scope).refusal(*filed)
        return "" if buried is None else "the new text was forgotten on purpose"

    @property
    def _day(self) -> date:
        return self.batch.at.astimezone(UTC).date()


def _quote(proof: Sequence[str], text: str) -> str:
    """Return the line of the proof that has most in common with the new text, as an Evidence field."""
    words = frozenset(text.casefold().split())

    def shared(line: str) -> int:
        return sum(word.strip("`'\".,;:()") in line.casefold() for word in words)

    return render_evidence(quoted(max(proof, key=shared), "tool")) if proof else ""


# --- what was asked when ----------------------------------------------------------------------------


def _marks(store: Store) -> dict[str, Any]:
    """Read when the last pass ended, when one failed, and when each entry was asked about."""
    try:
        said = files.parse_json(store.text(MARKS) or "{}")
    except (errors.LaminaError, ValueError):
        said = {}
    said = said if isinstance(said, dict) else {}
    asked = said.get("asked")
    pairs = asked.items() if isinstance(asked, dict) else ()
    return {
        "at": str(said.get("at", "")),
        "tried": str(said.get("tried", "")),
        "asked": {str(id_): at for id_, at in pairs if isinstance(at, str)},
    }


def _asked(batch: Writing, ids: Sequence[str], now: datetime) -> None:
    """Note with the batch that entries were asked about; the newest 2,000 are remembered."""
    marks = _marks(batch.store)
    asked = marks["asked"] | dict.fromkeys(ids, render_time(now))
    newest = sorted(asked.items(), key=lambda each: each[1])[-_REMEMBERED:]
    batch.put(MARKS, _rendered(marks | {"asked": dict(newest)}))


def _mark(store: Store, now: datetime) -> None:
    """Note that a pass ended."""
    marks = _marks(store) | {"at": render_time(now), "tried": ""}
    files.write_text(store.root / MARKS, _rendered(marks), durable=False)


def _rendered(marks: Mapping[str, Any]) -> str:
    return json.dumps(marks, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
