"""A plan says of every item of a digest what becomes of it: kept, merged into another, or dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from lamina.formats.digest import Digest, Item
from lamina.pipeline.digest.drafts import settled
from lamina.pipeline.refine.personal import personal

KEEP, MERGE, DROP = "keep", "merge", "drop"
ACTIONS = (KEEP, MERGE, DROP)
_CLAUSE = tuple(",;:.(—–，；：（")
_LEAST = 8  # characters of a text that another one may begin with


@dataclass(frozen=True, slots=True)
class Choice:
    """What becomes of one item.

    `text` is its new wording, "" to keep the words; `conflict` names the items that it contradicts.
    """

    item: Item
    action: str = KEEP
    into: str = ""
    reason: str = ""
    text: str = ""
    conflict: tuple[str, ...] = ()


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
        return [choice for choice in self.choices.values() if choice.action == MERGE and choice.into == name]


def proposed(digest: Digest) -> Plan:
    """Return the plan that needs no judgement.

    The same words twice are merged into the older item, words that another item of the kind begins with into
    that one, and an open action that a later item says in the same words to be done is dropped.
    """
    choices = dict(unchanged(digest).choices)
    _merge_equal(choices)
    _merge_beginnings(choices)
    done: dict[str, Item] = {}
    for choice in choices.values():
        if choice.action == KEEP and choice.item.kind == "state":
            done[settled(choice.item.bullet)] = choice.item
    for name, choice in choices.items():
        by = done.get(settled(choice.item.bullet)) if choice.item.kind == "open" else None
        if by is not None and choice.action == KEEP and by.line > choice.item.line:
            choices[name] = replace(choice, action=DROP, reason=f"resolved by {by.id}")
    return Plan(choices)


def unchanged(digest: Digest, *, limitations: tuple[str, ...] = ()) -> Plan:
    """Return the plan that keeps every item as it is."""
    current = digest.current
    choices = {name: Choice(item, conflict=_standing(item, current)) for name, item in current.items()}
    return Plan(choices, limitations)


def as_json(digest: Digest, path: str, gates: Iterable[str], plan: Plan) -> dict[str, Any]:
    """Return what `lamina refine --plan` prints, to be edited and given back."""
    return {
        "digest": path,
        "gates": list(gates),
        "items": [_row(choice, _hint(choice, digest)) for choice in plan.choices.values()],
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
    flagged = personal(item.text)
    if flagged:
        row["sensitive"] = list(flagged)
    return row | ({"hint": hint} if hint else {})


def _hint(choice: Choice, digest: Digest) -> str:
    """Say what a person should look at: what was edited by hand, and what has an older wording."""
    if choice.item.edited:
        return "its text was edited by hand since its hash was taken"
    older = sum(item.id == choice.item.id for item in digest.items) - 1 if choice.item.section else 0
    return f"{older} older wordings of it are left behind" if older > 0 else ""


def _standing(item: Item, current: Mapping[str, Item]) -> tuple[str, ...]:
    """Return the conflicts of an item that are still there."""
    return tuple(name for name in item.conflicts if name in current and name != item.id)


def _merge_equal(choices: dict[str, Choice]) -> None:
    seen: dict[tuple[str, str], str] = {}
    for name, choice in choices.items():
        key = (choice.item.kind, _plain(choice.item.text))
        if key[1] and key in seen:
            choices[name] = replace(choice, action=MERGE, into=seen[key])
        else:
            seen[key] = name


def _merge_beginnings(choices: dict[str, Choice]) -> None:
    """Merge a text that another one of its kind begins with and then gives a reason or a detail.

    Only neighbours in the order of the alphabet are compared, so that a long digest costs little.
    """
    kept = [choice.item for choice in choices.values() if choice.action == KEEP]
    ordered = sorted((item.kind, item.text.casefold().rstrip(" .!。"), item.id) for item in kept)
    for (kind, text, name), (other_kind, longer, into) in pairwise(ordered):
        if kind == other_kind and len(text) >= _LEAST and _goes_on(longer, text):
            choices[name] = replace(choices[name], action=MERGE, into=into)
    for name, choice in choices.items():
        if choice.action == MERGE:
            choices[name] = replace(choice, into=_end(choices, choice.into))


def _goes_on(longer: str, text: str) -> bool:
    """Tell whether a text goes on behind another one with a clause of its own.

    "Do not retry" is not told by "do not retry twice".
    """
    rest = longer[len(text) :] if longer.startswith(text) else ""
    return rest[:1] in _CLAUSE or rest.startswith((" because ", " since ", " so that ", " — ", " – "))


def _end(choices: Mapping[str, Choice], name: str) -> str:
    while choices[name].action == MERGE:
        name = choices[name].into
    return name


def _plain(text: str) -> str:
    """Return the words of a text: case, punctuation and spacing say nothing; signs within a word do."""
    return " ".join(word.strip(".,;:!?\"'“”‘’()") for word in text.casefold().split()).strip()
