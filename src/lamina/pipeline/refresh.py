"""Refresh: stale entries are shown to a model beside what their repository says today.

The model may confirm, correct or end an entry, and only where the repository was heard: without proof nothing
changes. Its words are checked against the entry and its proof, what a person vouches for stays in force, and
an entry that changed meanwhile is left alone. Each batch is asked outside the store's lock and written in
one write with the mark that it was asked, so a killed run loses at most one answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.formats.dates import parse_time, render_time
from lamina.formats.entry import with_field
from lamina.formats.evidence import quoted, render_evidence
from lamina.formats.reply import Change, Reply, parse_refresh
from lamina.pipeline import changes
from lamina.pipeline.checks.hedges import hardened
from lamina.pipeline.ground import Shown, inventions
from lamina.pipeline.proof import Proof, gather, repository_of
from lamina.pipeline.redact import redact
from lamina.pipeline.stale import PURPOSE, TEXT_BYTES, Stale, groups, prompt_for, shown_text, stale
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


@dataclass(frozen=True, slots=True)
class Pace:
    """How often, how many and how much: seconds between passes, entries in one, bytes of a prompt."""

    every_s: int = 86_400
    limit: int = LIMIT
    bytes: int = 48_000


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


def refresh(
    store: Store,
    *,
    asker: Asker | None,
    now: datetime,
    pace: Pace = Pace(every_s=0),
    proof: Proof | None = None,
    dry_run: bool = False,
) -> Refreshed:
    """Check the entries that were asked about longest ago, and of those the ones verified longest ago.

    What was asked within `pace.every_s` seconds is left out; 0 asks in any case. `dry_run` gathers the proof
    and asks nobody. Raises Busy while another pass runs.
    """
    done = Refreshed()
    if dry_run or asker is None:
        _pass(store, None, now, pace, proof or partial(gather, store), done)
        return done
    with locks.lock(store.layout.lock(PURPOSE), timeout_s=0):
        _pass(store, asker, now, pace, proof or partial(gather, store), done)
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


def _pass(
    store: Store, asker: Asker | None, now: datetime, pace: Pace, proof: Proof, done: Refreshed
) -> None:
    every = stale(store, now)
    done.stale = len(every)
    chosen = _chosen(every, _marks(store)["asked"], now, pace)
    for start in range(0, len(chosen), _AT_ONCE):
        some = chosen[start : start + _AT_ONCE]
        proofs = proof([each.located for each in some])
        proven = [each._replace(proof=tuple(proofs.get(each.id, ()))) for each in some]
        done.looked_at += proven
        done.unproven += sum(not each.proof for each in proven)
        if asker is None:
            continue
        for group in groups(proven, pace.bytes):
            if not _group(store, asker, now, group, done):
                return


def _chosen(every: Sequence[Stale], asked: Mapping[str, str], now: datetime, pace: Pace) -> list[Stale]:
    """Choose the entries of a pass: those never asked about first, then those asked longest ago."""

    def recent(each: Stale) -> bool:
        at = parse_time(asked.get(each.id, ""))
        return at is not None and timedelta(0) <= now - at < timedelta(seconds=pace.every_s)

    waiting = [each for each in every if not recent(each)]
    return sorted(waiting, key=lambda each: asked.get(each.id, ""))[: pace.limit]


def _group(store: Store, asker: Asker, now: datetime, group: Sequence[Stale], done: Refreshed) -> bool:
    """Ask about one group and write what follows; False where no model can be asked any more."""
    reply = Reply()
    if any(each.proof for each in group):  # without any proof no answer could change anything
        prompt = prompt_for(group)
        try:
            answer = asker.ask(PURPOSE, prompt).reply
        except errors.NoModelAnswered as silence:
            if not silence.replied:
                return _stopped(store, now, silence, done)
            done.calls += 1
            done.parse_failed = True
        except errors.CapReached as cap:
            return _stopped(store, now, cap, done)
        else:
            done.calls += 1
            reply = parse_refresh(answer.text, answer.cut)
            done.parse_failed |= not reply.usable
            asked = f"{prompt.system}\n\n{prompt.text}"
            exchange.keep(
                store.layout, PURPOSE, prompt=redact(asked).text, reply=redact(answer.text).text, at=now,
                failed=not reply.usable,
            )  # fmt: skip
    _write(store, now, group, reply, done)
    return True


def _stopped(store: Store, now: datetime, problem: errors.LaminaError, done: Refreshed) -> bool:
    done.problem = problem
    marks = _marks(store)
    files.write_text(store.root / MARKS, _rendered(marks | {"tried": render_time(now)}), durable=False)
    log.log(store.layout, "refresh_waits", at=now, reason=redact(problem.message).text)
    return False


# --- what follows from a reply ----------------------------------------------------------------------


def _write(store: Store, now: datetime, group: Sequence[Stale], reply: Reply, done: Refreshed) -> None:
    """Write all that one reply changes, and that these entries were asked about, at once."""
    said = _verdicts(reply)
    heads: dict[str, str] = {}
    for each in group:
        if said.get(each.id) and said[each.id][0] != "keep" and each.proof:
            top = repository_of(store, each.located.scope)
            heads[each.id] = tracked.head_commit(top) if top else ""
    did = Refreshed(rejected=dict.fromkeys(said.keys() - {each.id for each in group}, "was not shown"))
    try:
        with store.writing(label=PURPOSE, at=now) as batch:
            for each in group:
                _settle(batch, each, said.get(each.id, []), heads.get(each.id, ""), did)
            _asked(batch, [each.id for each in group], now)
    except errors.ChangedMeanwhile as problem:  # a person is at one of the files: the next pass asks again
        did = Refreshed(left=len(group), rejected={each.id: problem.message for each in group})
    done.take(did)


def _verdicts(reply: Reply) -> dict[str, list[str]]:
    """Map each id to what was said of it: the verb, then the text. Two different verdicts are none."""
    said: dict[str, list[list[str]]] = {}
    for id_ in reply.keeps:
        said.setdefault(id_, []).append(["keep", ""])
    verbs: tuple[tuple[str, tuple[Change, ...]], ...] = (
        ("update", reply.updates),
        ("supersede", reply.supersedes),
    )
    for verb, some in verbs:
        for change in some:
            if [verb, change.text] not in said.setdefault(change.id, []):
                said[change.id].append([verb, change.text])
    return {id_: one[0] if len(one) == 1 else ["both", ""] for id_, one in said.items()}


def _settle(batch: Writing, each: Stale, said: Sequence[str], head: str, done: Refreshed) -> None:
    """Do what was said of one entry, or note why not."""
    if not said:
        done.left += 1
        return
    verb, text = said[0], redact(said[1]).text
    why_not = _objection(batch, each, verb, text)
    if why_not:
        done.rejected[each.id] = why_not
        return
    id_, day = each.id, batch.at.astimezone(UTC).date()
    revision = changes.Revision(text, f"git:{head}" if head else "", _quote(each.proof, text), day)
    if verb == "keep" or (verb == "update" and changes.says(each.located.entry, text)):
        batch.change(id_, lambda entry: with_field(entry, "Verified", str(day)))
        done.kept.append(id_)
    elif changes.is_firm(each.located.entry):
        written = changes.beside(batch, id_, revision)
        if written is None:
            done.rejected[id_] = "stands beside it already"
        else:
            done.candidates.append(written.id)
    elif verb == "update":
        changes.update(batch, id_, revision)
        done.updated.append(id_)
    else:
        changes.supersede(batch, id_, day=day, reason=text)
        done.superseded.append(id_)


def _objection(batch: Writing, each: Stale, verb: str, text: str) -> str:
    """Say why what the model said of an entry may not be done, "" if it may."""
    if verb == "both":
        return "was answered in two ways"
    if not each.proof:
        return "there was no evidence"
    now = batch.find(each.id)
    if now is None or now.raw.strip() != each.located.entry.raw.strip():
        return "was changed meanwhile"
    return "" if verb == "keep" else _unfit(batch, each, verb, text)


def _unfit(batch: Writing, each: Stale, verb: str, text: str) -> str:
    """Say why a model's words may not be written, "" if they may."""
    shown = shown_text(each.located.entry)
    if invented := inventions(text, Shown("\n".join([shown, *each.proof]))):
        return f"the reply names {invented[0]!r}, which stands nowhere in what was shown"
    if verb == "update" and hardened(text, shown):
        return "the reply makes a fact of what was only supposed"
    if verb == "update" and len(shown.encode()) >= TEXT_BYTES - 4:
        return "is too long to be worded anew"
    heading, body = changes.filed(each.located.layer, text, batch.at.astimezone(UTC).date())
    if verb == "update" and Graves.load(batch.store, each.located.scope).refusal(heading, body) is not None:
        return "the new text was forgotten on purpose"
    return ""


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
