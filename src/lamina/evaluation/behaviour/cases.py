"""Read the cases: what stands in the store, what is done, and what must hold then.

A fixture file is TOML: `version`, `axis` and `[[case]]` tables. Nothing in it is ignored: an unknown key, a
value of another kind or the name of an entry that the case does not make is refused, since a misspelt
expectation would hold for ever.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from lamina.errors import BadInput

VERSION = 1
AXES = ("ranking", "freshness", "forgetting", "card budget", "workspace key")
TODAY = date(2026, 11, 30)
HERE = "harbor"
FIXTURES = Path(__file__).parent / "fixtures"

Table = Mapping[str, Any]


class Texts:
    """The kind `list of texts`."""


class Pairs:
    """The kind `list of lists of texts`."""


class Tables:
    """The kind `list of tables`."""


_KINDS = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    date: "a day, 2026-11-30",
    dict: "a table",
    Texts: "a list of texts",
    Pairs: "a list of lists of texts",
    Tables: "a list of tables",
}

_FIELDS: dict[str, type] = {
    "as": str,
    "heading": str,
    "layer": str,
    "scope": str,
    "topic": str,
    "importance": int,
    "volatility": str,
    "source": str,
    "until": date,
}
_ENTRY: dict[str, type] = {
    **_FIELDS,
    "text": str,
    "date": date,
    "verified": date,
    "trust": str,
    "by": str,
    "times": int,
}

STEPS: dict[str, dict[str, type]] = {
    "remember": {"remember": str, "status": str, **_FIELDS},
    "codebase": {"codebase": str, "text": str, "as": str},
    "state": {"state": str, "text": str},
    "working": {"working": str, "text": str},
    "edit": {"edit": str, "text": str, "fields": dict},
    "forget": {"forget": Texts, "purge": bool, "reason": str},
    "forget_found": {"forget_found": str},
    "forget_session": {"forget_session": str},
    "release": {"release": Texts},
    "undo": {"undo": bool},
    "import": {"import": Texts, "session": int},
    "days": {"days": int},
}
"""What can be done before the question, each with its own words."""

FOLDERS: dict[str, dict[str, type]] = {
    "repository": {"repository": str, "origin": str, "commit": bool},
    "worktree": {"worktree": str, "of": str},
    "folder": {"folder": str},
    "file": {"file": str, "text": str},
    "rename": {"rename": str, "to": str},
    "remove": {"remove": str},
    "origin": {"origin": str, "at": str},
    "write": {"write": str},
    "associate": {"associate": str, "at": str},
}
"""What can be done to the folders of a machine; paths are relative to the home folder, "" is it itself."""

_FILTERS: dict[str, type] = {
    "scope": str,
    "layer": str,
    "topic": str,
    "trust": str,
    "since": str,
    "until": str,
    "limit": int,
}

EXPECT: dict[str, dict[str, type]] = {
    "search": {
        "first": str,
        "order": Texts,
        "exactly": Texts,
        "found": Texts,
        "absent": Texts,
        "grades": dict,
        "ages": dict,
        "trust": dict,
        "nothing": bool,
    },
    "card": {
        "order": Texts,
        "found": Texts,
        "absent": Texts,
        "with": Texts,
        "without": Texts,
        "grades": dict,
        "empty": bool,
    },
    "folders": {"keys": dict, "same": Pairs, "different": Pairs, "reads": dict},
}
"""What can be expected of each action."""

_NAMING = {
    "search": ("first", "order", "exactly", "found", "absent", "grades", "ages", "trust"),
    "card": ("order", "found", "absent", "grades"),
    "folders": (),
}

_CASE: dict[str, type] = {
    "name": str,
    "reason": str,
    "today": date,
    "here": str,
    "entries": Tables,
    "steps": Tables,
    "search": str,
    "filters": dict,
    "card": int,
    "folders": Tables,
    "expect": dict,
}


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that must hold.

    `action` is `search`, `card` or `folders`; `subject` is its query, its budget in characters, or its steps.
    """

    name: str
    axis: str
    reason: str
    action: str
    subject: Any
    expect: Table
    entries: Sequence[Table] = ()
    steps: Sequence[Table] = ()
    filters: Table | None = None
    today: date = TODAY
    here: str = HERE


def load_cases(folder: Path = FIXTURES) -> list[Case]:
    """Read every fixture of a folder, in the order of the axes; raises BadInput for what can't be meant."""
    cases: list[Case] = []
    for path in sorted(folder.glob("*.toml")):
        cases += parse_cases(path.read_text(encoding="utf-8"), path.name)
    names: set[str] = set()
    for case in cases:
        if case.name in names:
            raise BadInput(f"two cases are called {case.name!r}", "a case is asked for by its name")
        names.add(case.name)
    return sorted(cases, key=lambda case: AXES.index(case.axis))


def parse_cases(text: str, where: str = "fixture") -> list[Case]:
    """Read the cases of one fixture file; `where` names it in messages."""
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise BadInput(f"{where}: {problem}", "it must be TOML") from None
    check(whole, {"version": int, "axis": str, "case": Tables}, where, needed=("version", "axis", "case"))
    if whole["version"] != VERSION:
        raise BadInput(f"{where}: version {whole['version']} is not known", f"this Lamina reads {VERSION}")
    if whole["axis"] not in AXES:
        raise BadInput(f"{where}: no axis is called {whole['axis']!r}", f"one of: {', '.join(AXES)}")
    return [_case(table, whole["axis"], where) for table in whole["case"]]


def check(table: Table, known: Mapping[str, type], where: str, *, needed: Sequence[str] = ()) -> None:
    """Refuse a table with a key that is not known, a value of another kind, or without what is needed."""
    for key, value in table.items():
        if key not in known:
            raise BadInput(f"{where}: unknown key {key!r}", f"known here: {', '.join(known)}")
        if not _is(value, known[key]):
            raise BadInput(f"{where}: {key!r} must be {_KINDS[known[key]]}", f"it is {value!r}")
    for key in needed:
        if key not in table:
            raise BadInput(f"{where}: {key!r} is missing", f"known here: {', '.join(known)}")


def verb_of(step: Table, verbs: Mapping[str, Mapping[str, type]], where: str = "step") -> str:
    """Return what a step does, which is its first key."""
    verb = next(iter(step), "")
    if verb not in verbs:
        raise BadInput(f"{where}: no step begins with {verb!r}", f"one of: {', '.join(verbs)}")
    return verb


def _is(value: object, kind: type) -> bool:
    if kind is Texts:
        return isinstance(value, list) and all(type(each) is str for each in value)
    if kind is Pairs:
        return isinstance(value, list) and all(_is(each, Texts) for each in value)
    if kind is Tables:
        return isinstance(value, list) and all(type(each) is dict for each in value)
    return type(value) is kind


def _case(table: Table, axis: str, where: str) -> Case:
    name = table.get("name")
    where = f"{where}: case {name!r}"
    check(table, _CASE, where, needed=("name", "reason", "expect"))
    actions = [action for action in EXPECT if action in table]
    if len(actions) != 1:
        raise BadInput(f"{where}: {len(actions)} actions", f"give one of: {', '.join(EXPECT)}")
    (action,) = actions
    case = Case(
        name=table["name"],
        axis=axis,
        reason=table["reason"],
        action=action,
        subject=table[action],
        expect=table["expect"],
        entries=table.get("entries", ()),
        steps=table.get("steps", ()),
        filters=table.get("filters"),
        today=table.get("today", TODAY),
        here=table.get("here", HERE),
    )
    check_case(case, where)
    return case


def check_case(case: Case, where: str) -> None:
    """Refuse a case that names what it does not make, or expects nothing."""
    for n, entry in enumerate(case.entries, 1):
        check(entry, _ENTRY, f"{where}: entry {n}", needed=("as", "text"))
    for n, step in enumerate(case.steps, 1):
        at = f"{where}: step {n}"
        check(step, STEPS[verb_of(step, STEPS, at)], at)
    if case.action == "folders":
        for n, step in enumerate(case.subject, 1):
            at = f"{where}: folder step {n}"
            check(step, FOLDERS[verb_of(step, FOLDERS, at)], at)
    check(case.filters or {}, _FILTERS, f"{where}: filters")
    check(case.expect, EXPECT[case.action], f"{where}: expect")
    if not case.expect:
        raise BadInput(f"{where}: nothing is expected", f"say one of: {', '.join(EXPECT[case.action])}")
    made = {name for entry in case.entries for name in names_of(entry)}
    made |= {step["as"] for step in case.steps if "as" in step}
    for name in _named(case):
        if name not in made:
            raise BadInput(f"{where}: no entry is called {name!r}", f"it makes: {', '.join(sorted(made))}")


def names_of(entry: Table) -> list[str]:
    """Return the name of an entry, or of each of them when it stands there several times."""
    if "times" not in entry:
        return [str(entry["as"])]
    return [f"{entry['as']}-{n}" for n in range(1, entry["times"] + 1)]


def _named(case: Case) -> Iterator[str]:
    """Yield every entry that an expectation or a step speaks of."""
    for key in _NAMING[case.action]:
        said = case.expect.get(key, ())
        yield from [said] if isinstance(said, str) else said
    for step in case.steps:
        yield from step.get("forget", ())
        yield from step.get("release", ())
        if "edit" in step:
            yield step["edit"]
    yield from (entry["by"] for entry in case.entries if "by" in entry)
