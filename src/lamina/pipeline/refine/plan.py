"""A plan says of every item of a digest what becomes of it: kept, merged into another, or dropped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from lamina.formats.digest import Digest, Item
from lamina.formats.lines import size_of
from lamina.pipeline.digest.drafts import settled
from lamina.pipeline.refine.hints import suspected
from lamina.pipeline.refine.order import Stamp, is_later, stamp
from lamina.pipeline.refine.personal import personal

KEEP, MERGE, DROP = "keep", "merge", "drop"
ACTIONS = (KEEP, MERGE, DROP)
_CLAUSE = tuple(",;:.(—–，；：。（")
_REASON = ("because ", "since ", "so that ", "weil ", "damit ", "da ", "parce que ", "porque ")
_WIDE_REASON = ("因为", "因為", "なぜなら", "왜냐하면")
_LEAST = 8  # bytes of a text that another one may begin with


@dataclass(frozen=True, slots=True)
class Choice:
    """What becomes of one item.

    `text` is its new wording, "" to keep the words; `conflict` names the items that it contradicts, `older`
    are its earlier wordings in the digest.
    """

    item: Item
    action: str = KEEP
    into: str = ""
    reason: str = ""
    text: str = ""
    conflict: tuple[str, ...] = ()
    older: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Plan:
    """The choices by id, in the digest's order, and what a person should know of how they were made."""

    choices: Mapping[str, Choice]
    limitations: tuple[str, ...] = field(default=())

    @property
    def kept(self) -> list[Choice]:
        """The items that stay."""
        return [choice for choice in self.choices.values() if choice.action == KEEP]

    def merged_into(self, name: str) -> list[Choice]:
        """List the items that are merged into one that stays."""
        return self._merged.get(name, [])

    @cached_property
    def _merged(self) -> dict[str, list[Choice]]:
        found: dict[str, list[Choice]] = {}
        for choice in self.choices.values():
            if choice.action == MERGE:
                found.setdefault(choice.into, []).append(choice)
        return found


def proposed(digest: Digest) -> Plan:
    """Return the plan that needs no judgement.

    The same words twice are merged into the older item, words that another item of the kind begins with into
    that one, and an open action that a later item says in the same words to be done is dropped.
    """
    choices = dict(unchanged(digest).choices)
    apart = {name for choice in choices.values() for name in (*choice.conflict, *_own(choice))}
    first = _drop_resolved(choices, apart)
    _merge_equal(choices, apart, first)
    _merge_beginnings(choices, apart, first)
    return Plan(choices)


def unchanged(digest: Digest, *, limitations: tuple[str, ...] = ()) -> Plan:
    """Return the plan that keeps every item as it is."""
    current, older = digest.current, older_of(digest)
    choices = {
        name: Choice(item, conflict=_standing(item, current), older=older.get(name, ()))
        for name, item in current.items()
    }
    return Plan(choices, limitations)


def older_of(digest: Digest) -> dict[str, tuple[Item, ...]]:
    """Return the earlier wordings of each item that has any, oldest first."""
    found: dict[str, tuple[Item, ...]] = {}
    for item in digest.items:
        if digest.current[item.id] is not item:
            found[item.id] = (*found.get(item.id, ()), item)
    return found


def as_json(path: str, gates: Iterable[str], plan: Plan) -> dict[str, Any]:
    """Return what `lamina refine --plan` prints, to be edited and given back."""
    told = suspected([choice.item for choice in plan.kept])
    return {
        "digest": path,
        "gates": list(gates),
        "items": [_row(choice, told.get(name, "")) for name, choice in plan.choices.items()],
    }


def _row(choice: Choice, hint: str) -> dict[str, Any]:
    item = choice.item
    row: dict[str, Any] = {
        "id": item.id,
        "hash": item.content,
        "kind": item.kind,
        "text": choice.text or item.text,
        "sources": list(item.sources),
        "action": choice.action,
    }
    if choice.into:
        row["into"] = choice.into
    if choice.reason:
        row["reason"] = choice.reason
    if choice.conflict:
        row["conflict"] = list(choice.conflict)
    earlier = dict.fromkeys(each.text for each in choice.older if each.text != item.text)
    if earlier:
        row["older"] = list(earlier)
    flagged = personal(item.text)
    if flagged:
        row["sensitive"] = list(flagged)
    hints = [*(["its text was edited by hand"] if item.edited else []), *([hint] if hint else [])]
    return row | ({"hint": "; ".join(hints)} if hints else {})


def _own(choice: Choice) -> tuple[str, ...]:
    return (choice.item.id,) if choice.conflict else ()


def _standing(item: Item, current: Mapping[str, Item]) -> tuple[str, ...]:
    """Return the conflicts of an item that are still there."""
    return tuple(name for name in item.conflicts if name in current and name != item.id)


def _drop_resolved(choices: dict[str, Choice], apart: Collection[str]) -> set[str]:
    """Drop open actions that a later item says in the same words to be done; returns the ids of these."""
    done: dict[str, Item] = {}
    for choice in choices.values():
        if choice.item.kind == "state":
            words = settled(choice.item.bullet)
            if words not in done or is_later(choice.item, done[words]):
                done[words] = choice.item
    named = set()
    for name, choice in choices.items():
        by = done.get(settled(choice.item.bullet)) if choice.item.kind == "open" else None
        if by is not None and name not in apart and is_later(by, choice.item):
            choices[name] = replace(choice, action=DROP, reason=f"resolved by {by.id}")
            named.add(by.id)
    return named


def _merge_equal(choices: dict[str, Choice], apart: Collection[str], first: Collection[str]) -> None:
    """Merge the same words into the oldest item that has them, or one of the `first`, which must stay."""
    seen: dict[tuple[str, str], str] = {}
    for name in (*(name for name in choices if name in first), *choices):
        choice = choices[name]
        key = (choice.item.kind, plain(choice.item.text))
        if not key[1] or name in apart or choice.action != KEEP:
            continue
        if seen.get(key, name) != name:
            choices[name] = replace(choice, action=MERGE, into=seen[key])
        else:
            seen[key] = name


def _merge_beginnings(choices: dict[str, Choice], apart: Collection[str], first: Collection[str]) -> None:
    """Merge a text that another one of its kind begins with and then gives a reason or a detail.

    Only neighbours in the order of the alphabet are compared, so that a long digest costs little.
    """
    kept = [choice.item for name, choice in choices.items() if choice.action == KEEP and name not in apart]
    stamps = _stamps(choices)
    ordered = sorted((item.kind, item.text.casefold().rstrip(" .!。"), item.id) for item in kept)
    for (kind, text, name), (other_kind, longer, into) in pairwise(ordered):
        if kind != other_kind or size_of(text) < _LEAST or not longer.startswith(text):
            continue
        later = (stamps[into], choices[into].item.line) > (stamps[name], choices[name].item.line)
        if _goes_on(longer[len(text) :], later=later) and name not in first:
            choices[name] = replace(choices[name], action=MERGE, into=into)
    for name, choice in choices.items():
        if choice.action == MERGE:
            choices[name] = replace(choice, into=_end(choices, choice.into))


def _stamps(choices: Mapping[str, Choice]) -> dict[str, Stamp]:
    """Return when each item was said last, by itself or by what is merged into it."""
    parts: dict[str, list[Item]] = {}
    for name, choice in choices.items():
        parts.setdefault(choice.into or name, []).extend((choice.item, *choice.older))
    return {name: stamp(items) for name, items in parts.items()}


def _goes_on(rest: str, *, later: bool) -> bool:
    """Tell whether the rest of a longer text is a clause of its own that leaves the shorter one true.

    "Do not retry" is not told by "do not retry twice". Only a reason may have been said before the shorter
    text: any other clause ("except in tests") may have been taken back by it.
    """
    said = rest.lstrip(" ,;:.(—–，；：。（")
    if said.startswith(_WIDE_REASON) or (said != rest and said.startswith(_REASON)):
        return True
    return later and (rest[:1] in _CLAUSE or rest.startswith((" — ", " – ")))


def _end(choices: Mapping[str, Choice], name: str) -> str:
    while choices[name].action == MERGE:
        name = choices[name].into
    return name


def plain(text: str) -> str:
    """Return the words of a text: case, closing punctuation and spacing say nothing; signs of a word do."""
    words = (word.lstrip("\"'“”‘’(").rstrip(".,;:!?\"'“”‘’)。，；：！？") for word in text.casefold().split())
    return " ".join(filter(None, words))
