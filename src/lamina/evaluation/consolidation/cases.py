"""Reads the fixtures: chains of sessions, the facts that they hold, and what must never come of them.

A file is TOML: `version`, `language` and `[[chain]]` tables. Nothing in it is ignored, since a misspelt
expectation would hold for ever. Secrets and private words are built here at run time, so that no file holds
one: `{token}`, `{key}` and `{hidden}` stand for them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

from lamina.errors import BadInput
from lamina.hosts.tape import Compacted, Injected, Pause, Said, Tool, Turn

VERSION = 1
FIXTURES = Path(__file__).parent.parent / "sets" / "consolidation"
HOSTS = ("claude-code", "codex")
TRAPS = (
    "supposed", "invented", "reversed", "subagent", "reminder", "tool chatter", "superseded", "private",
    "other project",
)  # fmt: skip
"""What must never stand in an entry in force."""

Table = Mapping[str, Any]

_CHAIN = {"name": str, "project": str, "session": list, "fact": list, "trap": list}
_SESSION = {"name": str, "date": date, "host": str, "of": str, "turns": list}
_FACT = {
    "kind": str, "in": list, "until": str, "all": list, "layers": list, "scopes": list, "trust": str,
    "label": str, "topic": str, "say": str,
}  # fmt: skip
_TRAP = {"kind": str, "all": list, "unless": list, "where": str}
_TURNS = frozenset({"user", "agent", "tool", "injected", "compacted", "pause"})


@dataclass(frozen=True, slots=True)
class Talk:
    """One session; `of` names the session that started it as a subagent, "" for a person's own."""

    name: str
    day: date
    host: str
    turns: tuple[Turn, ...]
    of: str = ""

    @property
    def text(self) -> str:
        """All that was said, done and shown in it, as what an entry's values must stand in."""
        return "\n".join((str(self.day), *map(_text, self.turns)))


@dataclass(frozen=True, slots=True)
class Anchors:
    """Strings that must stand together in one text; each may have alternatives. Case does not count."""

    all: tuple[tuple[str, ...], ...]

    def hold(self, text: str) -> bool:
        """Say whether all stand in a text."""
        return self.count(text) == len(self.all)

    def count(self, text: str) -> int:
        """Count those that stand in a text."""
        folded = _folded(text)
        return sum(any(_folded(each) in folded for each in choice) for choice in self.all)

    def any(self, text: str) -> bool:
        """Say whether one of them stands in a text."""
        return self.count(text) > 0


@dataclass(frozen=True, slots=True)
class Fact:
    """What must be remembered: said in `sessions`, ended by the session `until` ("" while it holds).

    An honest model would write `say`, with this label and topic.
    """

    kind: str
    sessions: tuple[str, ...]
    anchors: Anchors
    layers: tuple[str, ...]
    scopes: tuple[str, ...]
    label: str
    topic: str
    say: str
    trust: str = "approved"
    until: str = ""


@dataclass(frozen=True, slots=True)
class Trap:
    """What no entry in force may hold, unless it holds one of `unless`; `where` names a scope, "" for all."""

    kind: str
    anchors: Anchors
    unless: Anchors
    where: str = ""

    def holds(self, text: str, scope: str) -> bool:
        """Say whether an entry of this text and scope falls into it."""
        here = not self.where or self.where == scope
        return here and self.anchors.hold(text) and not self.unless.any(text)


@dataclass(frozen=True, slots=True)
class Chain:
    """Sessions of one project that follow each other, and what should come of them."""

    name: str
    language: str
    project: str
    talks: tuple[Talk, ...]
    facts: tuple[Fact, ...]
    traps: tuple[Trap, ...]


def load_chains(folder: Path = FIXTURES) -> list[Chain]:
    """Read all fixtures of a folder, in the order of their files; raises BadInput for what can't be meant."""
    chains = [
        chain
        for path in sorted(folder.glob("*.toml"))
        for chain in parse_chains(path.read_text(encoding="utf-8"), path.name)
    ]
    names = [chain.name for chain in chains]
    if not chains or len(set(names)) < len(names):
        raise BadInput(f"{folder}: no chains, or two of one name", "each chain has a name of its own")
    return chains


def parse_chains(text: str, where: str = "fixture") -> list[Chain]:
    """Read the chains of one file; `where` names it in messages."""
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise BadInput(f"{where}: {problem}", "it must be TOML") from None
    _check(whole, {"version": int, "language": str, "chain": list}, where, ("version", "language", "chain"))
    if whole["version"] != VERSION:
        raise BadInput(f"{where}: version {whole['version']} is not known", f"this Lamina reads {VERSION}")
    return [_chain(table, whole["language"], where) for table in whole["chain"]]


def _chain(table: Table, language: str, where: str) -> Chain:
    where = f"{where}: chain {table.get('name')!r}"
    _check(table, _CHAIN, where, ("name", "project", "session"))
    talks = tuple(_talk(each, where) for each in table["session"])
    known = {talk.name for talk in talks}
    if len(known) < len(talks):
        raise BadInput(f"{where}: two sessions of one name", "each session has a name of its own")
    facts = tuple(_fact(each, known, where) for each in table.get("fact", ()))
    traps = tuple(_trap(each, where) for each in table.get("trap", ()))
    return Chain(table["name"], language, table["project"], talks, facts, traps)


def _talk(table: Table, where: str) -> Talk:
    where = f"{where}: session {table.get('name')!r}"
    _check(table, _SESSION, where, ("name", "date", "turns"))
    host = table.get("host", HOSTS[0])
    _one_of(host, HOSTS, where)
    turns = tuple(_turn(each, where) for each in table["turns"])
    return Talk(table["name"], table["date"], host, turns, table.get("of", ""))


def _turn(table: Table, where: str) -> Turn:
    verb = next(iter(table), "")
    said = _filled(str(table.get(verb, "")))
    _one_of(verb, _TURNS, where)
    if verb == "tool":
        _check(table, {"tool": str, "input": str, "result": str, "failed": bool}, where, ("input",))
        result = _filled(table.get("result", ""))
        return Tool(said, {"command": table["input"]}, result, table.get("failed", False))
    _check(table, {verb: int if verb == "pause" else str}, where)
    match verb:
        case "user":
            return Said("user", said)
        case "agent":
            return Said("assistant", said)
        case "injected":
            return Injected(said)
        case "compacted":
            return Compacted(said)
        case _:
            return Pause(int(said))


def _fact(table: Table, known: set[str], where: str) -> Fact:
    where = f"{where}: fact {table.get('say')!r}"
    _check(table, _FACT, where, ("kind", "in", "all", "layers", "label", "topic", "say"))
    for name in (*table["in"], *filter(None, [table.get("until")])):
        _one_of(name, known, where)
    fact = Fact(
        table["kind"],
        tuple(table["in"]),
        _anchors(table["all"]),
        tuple(table["layers"]),
        tuple(table.get("scopes", ["workspace"])),
        table["label"],
        table["topic"],
        table["say"],
        table.get("trust", "approved"),
        table.get("until", ""),
    )
    if not fact.anchors.hold(fact.say):
        raise BadInput(f"{where}: what is to be said does not hold its own anchors", "mend one of them")
    return fact


def _trap(table: Table, where: str) -> Trap:
    where = f"{where}: trap {table.get('all')!r}"
    _check(table, _TRAP, where, ("kind", "all"))
    _one_of(table["kind"], TRAPS, where)
    return Trap(
        table["kind"], _anchors(table["all"]), _anchors(table.get("unless", [])), table.get("where", "")
    )


def _anchors(said: Sequence[str]) -> Anchors:
    return Anchors(tuple(tuple(_filled(choice).split("|")) for choice in said))


def _one_of(value: str, known: Sequence[str] | set[str] | frozenset[str], where: str) -> None:
    if value not in known:
        raise BadInput(f"{where}: {value!r} is not known", f"one of: {', '.join(sorted(known))}")


def _check(table: Table, known: Mapping[str, type], where: str, needed: Sequence[str] = ()) -> None:
    for key, value in table.items():
        if key not in known:
            raise BadInput(f"{where}: unknown key {key!r}", f"known here: {', '.join(known)}")
        if type(value) is not known[key]:
            raise BadInput(f"{where}: {key!r} must be {known[key].__name__}", f"it is {value!r}")
    for key in needed:
        if key not in table:
            raise BadInput(f"{where}: {key!r} is missing", f"known here: {', '.join(known)}")


# --- texts ------------------------------------------------------------------------------------------


def _filled(text: str) -> str:
    """Put in what no file may hold: words of the shape of secrets, the same at every run."""
    for name, value in _SECRETS.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _drawn(name: str, size: int) -> str:
    return sha256(f"lamina {name}".encode()).hexdigest()[:size]


_SECRETS = {
    "token": f"{'gh'}p_{_drawn('token', 36)}",
    "key": f"{'AK'}IA{''.join(chr(65 + int(each, 16)) for each in _drawn('key', 16))}",
    "hidden": f"otter-{_drawn('hidden', 6)}",
}


def _folded(text: str) -> str:
    return " ".join(text.replace("**", "").replace("`", "").casefold().split())


def _text(turn: Turn) -> str:
    match turn:
        case Said(_, text) | Injected(text) | Compacted(text):
            return text
        case Tool(name, arguments, result, _):
            given = (arguments,) if isinstance(arguments, str) else map(str, arguments.values())
            return "\n".join((name, *given, result))
        case _:
            return ""
