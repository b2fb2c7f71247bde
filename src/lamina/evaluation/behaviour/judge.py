"""Compare what a case expects with what was found; each difference is one line for a person."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lamina.formats.scope import GLOBAL
from lamina.pipeline.card import SMALLEST_BUDGET

if TYPE_CHECKING:
    from lamina.evaluation.behaviour.cases import Table
    from lamina.evaluation.behaviour.scene import Scene
    from lamina.pipeline.recall import Hit

_GRADE = re.compile(r"\[(aging|STALE|UNVERIFIED|expired)[^\]]*\] \([^)]*\)$")


def judge_search(scene: Scene, expect: Table, hits: Sequence[Hit]) -> list[str]:
    """Return the differences between the hits and what must hold for them."""
    found = [scene.name_of(hit.id) for hit in hits]
    told = []
    if "first" in expect and found[:1] != [expect["first"]]:
        told.append(_told("first", expect["first"], _listed(found[:3])))
    if "order" in expect:
        told += _in_order(expect["order"], found)
    if "exactly" in expect and found != expect["exactly"]:
        told.append(_told("exactly", _listed(expect["exactly"]), _listed(found)))
    if expect.get("nothing") and found:
        told.append(_told("nothing", "no hits", _listed(found)))
    told += _presence(expect, found)
    shown = dict(zip(found, hits, strict=True))
    told += _values("grades", expect, {name: hit.freshness for name, hit in shown.items()})
    told += _values("ages", expect, {name: hit.age_days for name, hit in shown.items()})
    return told + _values("trust", expect, {name: hit.trust for name, hit in shown.items()})


def judge_card(scene: Scene, expect: Table, budget: int, card: str) -> list[str]:
    """Return the differences between a card and what must hold for it; its budget must always hold."""
    told = []
    if len(card) > max(budget, SMALLEST_BUDGET):
        told.append(_told("budget", f"at most {budget} characters", str(len(card))))
    if "empty" in expect and expect["empty"] != (not card):
        told.append(_told("empty", str(expect["empty"]).lower(), f"{len(card)} characters"))
    lines = {name: line for line in card.splitlines() for name in [_line_name(scene, line)] if name}
    if "order" in expect:
        told += _in_order(expect["order"], list(lines))
    told += _presence(expect, list(lines))
    told += [_told("with", repr(text), "no such text") for text in expect.get("with", ()) if text not in card]
    told += [_told("without", f"no {text!r}", "it") for text in expect.get("without", ()) if text in card]
    seen = {name: _card_grade(line) for name, line in lines.items()}
    return told + _values("grades", expect, seen)


def judge_folders(scene: Scene, expect: Table) -> list[str]:
    """Return the differences between the keys of folders and what must hold for them."""

    def key(path: str) -> str:
        return scene.memory.resolve_key(scene.at(path)) or GLOBAL

    told = [
        _told(f"key of {path or '~'}", wanted, key(path))
        for path, wanted in expect.get("keys", {}).items()
        if not fnmatchcase(key(path), wanted)
    ]
    for group in expect.get("same", ()):
        keys = {path: key(path) for path in group}
        if len(set(keys.values())) > 1:
            told.append(_told("same", "one key", _pairs(keys)))
    for group in expect.get("different", ()):
        keys = {path: key(path) for path in group}
        if len(set(keys.values())) < len(keys):
            told.append(_told("different", "each its own key", _pairs(keys)))
    for reader, writers in expect.get("reads", {}).items():
        with scene.opened(scene.at(reader)) as memory:
            hits = memory.search("note written", scope="workspace" if memory.scope.key else GLOBAL).hits
        found = sorted(scene.name_of(hit.id) for hit in hits)
        if found != sorted(writers):
            told.append(_told(f"read in {reader or '~'}", _listed(sorted(writers)), _listed(found)))
    return told


def _in_order(wanted: Sequence[str], found: Sequence[str]) -> list[str]:
    shown = [name for name in found if name in wanted]
    return [] if shown == list(wanted) else [_told("order", _listed(wanted), _listed(found))]


def _presence(expect: Table, found: Sequence[str]) -> list[str]:
    missing = [name for name in expect.get("found", ()) if name not in found]
    there = [name for name in expect.get("absent", ()) if name in found]
    told = []
    if missing:
        told.append(_told("found", _listed(missing), _listed(found)))
    if there:
        told.append(_told("absent", f"not {_listed(there)}", _listed(found)))
    return told


def _values(what: str, expect: Table, seen: Mapping[str, object]) -> list[str]:
    wanted = expect.get(what, {})
    return [
        _told(f"{what} of {name}", str(value), str(seen.get(name, "no such hit")))
        for name, value in wanted.items()
        if seen.get(name) != value
    ]


def _line_name(scene: Scene, line: str) -> str:
    """Return the name of the entry that a line of the card tells of, "" for another line."""
    id_ = line.rpartition("(")[2].removesuffix(")")
    return next((name for name, known in scene.names.items() if known == id_ and line.endswith(")")), "")


def _card_grade(line: str) -> str:
    match = _GRADE.search(line)
    return match[1].lower() if match else "fresh"


def _told(what: str, expected: str, found: str) -> str:
    return f"{what}: expected {expected}, found {found}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"


def _pairs(keys: Mapping[str, str]) -> str:
    return ", ".join(f"{path or '~'} = {key}" for path, key in keys.items())
