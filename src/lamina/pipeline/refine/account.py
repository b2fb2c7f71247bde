"""Holds an edited plan against the digest: nothing may be left out, changed on the way, or made up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from lamina import errors
from lamina.formats.digest import Digest, Item
from lamina.formats.hashing import knowledge_text
from lamina.formats.lines import fold
from lamina.formats.origin import key_of
from lamina.formats.structure import one_line
from lamina.pipeline.checks.hedges import hedged
from lamina.pipeline.checks.misread import misread
from lamina.pipeline.checks.names import doubts
from lamina.pipeline.checks.support import FIRM, LEAST, Passage, support
from lamina.pipeline.ground import inventions
from lamina.pipeline.redact import redact
from lamina.pipeline.refine.order import is_later, stamp
from lamina.pipeline.refine.personal import cleaned, is_cleaned
from lamina.pipeline.refine.plan import ACTIONS, DROP, KEEP, MERGE, Choice, Plan, older_of, plain
from lamina.pipeline.refine.wording import missing

LONGEST = 4_000
_SHOWN = 40
_REASON = re.compile(
    r"(resolved|superseded|duplicate)\s+(?:by|of)\s+`?([^\s`]+)`?\s*(?:[.:;,—-].*)?",
    re.IGNORECASE | re.DOTALL,
)
_NOISE = re.compile(r"noise\s*[:：]\s*\S", re.IGNORECASE)
_REASONS = "`resolved by ID` (an open action), `superseded by ID`, `duplicate of ID`, `noise: why` (a state)"


_UNDONE = re.compile(
    r"\b(?:not|n't|never)\b[^.;]{0,60}\byet\b|\bstill (?:not|no|missing|open|to be|needs?|has to|must)\b|"
    r"\b(?:postponed|deferred|unfinished|half[- ]done|TODO|(?:is|are) (?:planned|pending))\b|"
    r"\bnoch (?:nicht|kein|offen)|\b(?:verschoben|geplant)\b|还没|還沒|尚未|未完成|まだ|아직",
    re.IGNORECASE,
)
"""Words of a text that says of something that it is still to be done."""


class Fault(NamedTuple):
    """What is wrong with one item of a plan."""

    id: str
    message: str


class _Faulty(Exception):
    """What is wrong with one row."""


def accounted(value: object, digest: Digest) -> Plan:
    """Return the plan that a person or an agent gave back.

    Raises BadInput that lists everything that is wrong: items that are missing, unknown or named twice, words
    that were altered, lost or made up, drops without a reason that the digest itself shows.
    """
    rows = value.get("items") if isinstance(value, Mapping) else None
    if not isinstance(rows, list):
        raise errors.BadInput('the plan has no list "items"', "`lamina refine --plan` prints one")
    faults: list[str] = []
    choices: dict[str, Choice] = {}
    texts: dict[str, str] = {}
    older = older_of(digest)
    for number, row in enumerate(rows):
        try:
            choice, text = _row(row, number, digest, older)
        except _Faulty as fault:
            faults.append(str(fault))
            continue
        if choice.item.id in choices:
            faults.append(f"{choice.item.id} stands twice")
        choices[choice.item.id] = choice
        texts[choice.item.id] = text
    named = {str(row.get("id")) for row in rows if isinstance(row, Mapping)}
    missing = [name for name in digest.current if name not in named]
    if missing:
        faults.append(
            f"not accounted for: {', '.join(missing[:_SHOWN])}" + (" …" if len(missing) > _SHOWN else "")
        )
    ordered = {name: choices[name] for name in digest.current if name in choices}
    plan, wrong = _judged(Plan(ordered), texts, ordered)
    faults += [each.message for each in wrong]
    if faults:
        raise errors.BadInput(
            "the plan is refused, nothing was written: " + "; ".join(dict.fromkeys(faults)),
            "correct these and apply it again",
        )
    return plan


def judged(plan: Plan, *, only: Collection[str] | None = None) -> tuple[Plan, list[Fault]]:
    """Hold a plan of our own making, or a model's, against the same rules; returns it and what is wrong.

    With `only`, no others than these items are judged.
    """
    texts = {name: choice.text for name, choice in plan.choices.items() if choice.text}
    return _judged(plan, texts, plan.choices if only is None else only)


def sound(plan: Plan) -> Plan:
    """Return a plan without what does not hold: those items stay as they are."""
    for _ in range(len(plan.choices) + 1):
        found, faults = judged(plan)
        if not faults:
            return found
        choices = dict(plan.choices)
        for name in {fault.id for fault in faults}:
            choices[name] = replace(choices[name], action=KEEP, into="", reason="", text="", conflict=())
        plan = Plan(choices, plan.limitations)
    return plan


def _row(
    row: object, number: int, digest: Digest, older: Mapping[str, tuple[Item, ...]]
) -> tuple[Choice, str]:
    """Read one row: its choice and the text that it gives."""
    if not isinstance(row, Mapping):
        raise _Faulty(f"item {number} is no object")
    name = row.get("id")
    item = digest.current.get(name) if isinstance(name, str) else None
    if item is None:
        raise _Faulty(f"item {number}: no item has the id {str(name)[:80]!r}")
    _require_unaltered(row, item)
    action = row.get("action", KEEP)
    if action not in ACTIONS:
        raise _Faulty(f"{item.id}: action is one of {', '.join(ACTIONS)}")
    into, reason = _text(row, "into", item.id), _text(row, "reason", item.id)
    if action == MERGE and not into:
        raise _Faulty(f'{item.id}: a merge needs "into"')
    if action == DROP and not reason:
        raise _Faulty(f"{item.id}: dropped without a reason: {_REASONS}")
    conflict = row.get("conflict") or []
    if not isinstance(conflict, list) or not all(isinstance(each, str) for each in conflict):
        raise _Faulty(f'{item.id}: "conflict" is no list of ids')
    others = tuple(dict.fromkeys(each for each in conflict if each != item.id))
    into = into if action == MERGE else ""
    choice = Choice(item, action, into, reason, conflict=others, older=older.get(item.id, ()))
    return choice, _wording(row, item)


def _require_unaltered(row: Mapping[str, Any], item: Item) -> None:
    said, text = row.get("hash", item.content), row.get("text", item.text)
    if said != item.content and (said != item.hash or text != item.text):
        raise _Faulty(f"{item.id}: its hash is another one; the digest changed, or the plan was altered")
    if row.get("kind", item.kind) != item.kind:
        raise _Faulty(f"{item.id}: its kind was altered")
    given = row.get("sources", list(item.sources))
    own = {key_of(each) for each in item.sources}
    if not isinstance(given, list) or {key_of(str(each)) for each in given} != own:
        raise _Faulty(f"{item.id}: its sources were altered")


def _wording(row: Mapping[str, Any], item: Item) -> str:
    text = row.get("text", item.text)
    if not isinstance(text, str) or not knowledge_text(fold(text)):
        raise _Faulty(f"{item.id} has no text")
    if len(text) > LONGEST:
        raise _Faulty(f"{item.id}: its text has {len(text)} characters; at most {LONGEST}")
    if redact(text).counts and not redact(item.text).counts:
        raise _Faulty(f"{item.id}: its text holds a secret")
    return fold(text)


def _judged(plan: Plan, texts: Mapping[str, str], only: Collection[str]) -> tuple[Plan, list[Fault]]:
    choices = dict(plan.choices)
    faults: list[Fault] = []
    for name in only:
        choice = plan.choices[name]
        text = texts.get(name, "")
        if choice.action == KEEP:
            told, fused = _wording_faults(plan, choice, text or choice.item.text)
            faults += told
            choices[name] = replace(choice, text=fused)
        elif knowledge_text(text) not in ("", choice.item.text):
            faults.append(Fault(name, f"{name}: its text was altered, but it does not stay"))
        faults += (Fault(name, told) for told in _choice_faults(plan, choice))
    return _both_ways(Plan(choices, plan.limitations), only), faults


def _choice_faults(plan: Plan, choice: Choice) -> Iterator[str]:
    if choice.action == MERGE:
        yield from _merge_faults(plan, choice)
    elif choice.action == DROP:
        yield from filter(None, [_drop_fault(plan, choice)])
    for other in choice.conflict:
        there = plan.choices.get(other)
        if choice.action != KEEP or there is None or there.action != KEEP:
            yield f"{choice.item.id}: is in conflict with {other}, but only items that stay can be"


def _merge_faults(plan: Plan, choice: Choice) -> list[str]:
    name, into = choice.item.id, plan.choices.get(choice.into)
    if choice.into == name:
        return [f"{name}: is merged into itself"]
    if into is None:
        return [f"{name}: is merged into {choice.into}, which is no item"]
    if into.action != KEEP:
        return [f"{name}: is merged into {choice.into}, which does not stay"]
    if (choice.item.kind == "open") != (into.item.kind == "open"):
        return [f"{name}: an open action merges with no settled item; `resolved by {choice.into}` drops it"]
    return []


def _drop_fault(plan: Plan, choice: Choice) -> str:
    """Say why an item may not be dropped, "" if it may: its reason must be one that the digest shows."""
    item, reason = choice.item, choice.reason.strip()
    named = _REASON.fullmatch(reason)
    if named is None:
        noise = bool(_NOISE.match(reason))
        if noise and item.kind == "state":
            return ""
        return (
            f"{item.id}: a {item.kind} is never noise"
            if noise
            else f"{item.id}: its reason is none of {_REASONS}"
        )
    how, other = named[1].lower(), named[2].rstrip(".,;:")
    by = plan.choices.get(other)
    if by is None or by.action != KEEP or other == item.id:
        return f"{item.id}: its reason names {other}, which is no other item that stays"
    if how == "duplicate":
        if (item.kind == "open") != (by.item.kind == "open"):
            return f"{item.id}: an open action is a duplicate of another one only"
        lost = lost_in(item.text, by.text or by.item.text)
        return f"{item.id}: is no duplicate of {other}, which {lost}" if lost else ""
    return _ended_fault(item, how, by.item)


def _ended_fault(item: Item, how: str, by: Item) -> str:
    """Say why an item can't have been resolved or superseded by another one, "" if it can."""
    if how == "resolved" and (item.kind != "open" or by.kind == "open"):
        return f"{item.id}: only an open action is resolved, and by what is settled"
    if is_later(item, by) and not (item.section == by.section == "" and stamp([item]) == stamp([by])):
        return f"{item.id}: {by.id} is older, so it can't have {how} it"
    near = support(item.text, [Passage(0, 0, "assistant", by.text)])
    if near is None or near.share < LEAST:
        return f"{item.id}: {by.id} says nothing of it, so it can't have {how} it"
    if how == "resolved" and (hedged(by.text) or _UNDONE.search(by.text)):
        return f"{item.id}: {by.id} does not say that it is done"
    return ""


def _wording_faults(plan: Plan, choice: Choice, text: str) -> tuple[list[Fault], str]:
    """Judge the words of an item that stays; returns what is wrong and its new wording, "" for its own.

    Other words than its own it has only from items that are merged into it, from its own earlier wordings,
    or because personal data was taken out.
    """
    item, merged = choice.item, plan.merged_into(choice.item.id)
    same = knowledge_text(text) == item.text
    if same and not merged:
        return [], ""
    if not merged and is_cleaned(item.text, knowledge_text(text)):
        return [], text
    if not merged and not choice.older:
        return [Fault(item.id, f"{item.id}: its text was altered")], ""
    parts = [each.item for each in merged]
    faults = []
    for part in parts if same else [item, *parts]:
        lost = lost_in(part.text, item.text if same else text, alone=same)
        if lost:
            faults.append(Fault(part.id, f"{part.id}: the merged text of {item.id} {lost}"))
    if not same:
        earlier = [each for one in (choice, *merged) for each in one.older]
        wrong = _invented(text, [item, *parts, *earlier])
        if wrong:
            faults.append(Fault(item.id, f"{item.id}: the merged text {wrong}"))
    return faults, "" if same else text


def lost_in(said: str, text: str, *, alone: bool = True) -> str:
    """Say what of an item's words a text loses, "" for nothing: a value, a name, its meaning, most of them.

    Unless the text says this item `alone`, a "not" in it may be another one's. Personal data may go.
    """
    if plain(said) == plain(text):
        return ""
    said = cleaned(said)
    values = inventions(said, text)
    if values:
        return f"loses {', '.join(map(repr, values[:3]))}"
    names = doubts(said, text)
    if names:
        return f"loses {', '.join(map(repr, names[:3]))}"
    words = ", ".join(map(repr, missing(said, [text])[:5]))
    found = support(said, [Passage(0, 0, "assistant", one_line(text))])
    if found is None or found.share < FIRM:
        return "does not say the same" + (f", it has no {words}" if words else "")
    wrong = misread(text, [said]) if alone else ""
    if wrong:
        return f"has it {wrong}"
    return f"loses {words}" if words else ""


def _invented(text: str, parts: Sequence[Item]) -> str:
    said = [part.text for part in parts]
    whole = "\n".join(said)
    values = inventions(text, whole) or doubts(text, whole)
    if values:
        return f"makes up {', '.join(map(repr, values[:3]))}"
    found = support(text, [Passage(n, n, "assistant", each) for n, each in enumerate(said)])
    if found is None or found.share < FIRM:
        return "says what none of them says"
    wrong = misread(text, said)
    if wrong:
        return f"has something {wrong}"
    words = missing(text, said)
    return f"makes up {', '.join(map(repr, words[:5]))}" if words else ""


def _both_ways(plan: Plan, only: Collection[str]) -> Plan:
    """Let both items of a conflict name the other one."""
    choices = dict(plan.choices)
    for name in only:
        for other in choices[name].conflict:
            there = choices.get(other)
            if there is not None and name not in there.conflict:
                choices[other] = replace(there, conflict=(*there.conflict, name))
    return Plan(choices, plan.limitations)


def _text(row: Mapping[str, Any], key: str, name: object) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _Faulty(f'{name}: "{key}" is no text')
    return fold(value)[:500]
