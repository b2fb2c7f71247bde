"""Digests for the tests of refining: made of items in a few words, and a core that keeps what it is told."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from lamina.formats.digest import (
    Digest,
    Item,
    appended,
    made,
    render_new,
    render_section,
    state_marker,
    sync_marker,
)
from lamina.formats.digestreader import parse_digest
from lamina.formats.origin import origin
from lamina.pipeline.refine.account import accounted, sound
from lamina.pipeline.refine.plan import Plan, as_json, proposed
from lamina.pipeline.refine.run import Report, Target, run
from lamina.pipeline.semantic import Fact, Operation, Outcome, Promote, Purge, Record, Supersede, Update
from lamina.store import memoryfolder

NOW = datetime(2026, 12, 20, 12, tzinfo=UTC)
OLD = "2026-11-01 10:00"


def ref(day: int = 1, hour: int = 9) -> str:
    return origin(f"memory/2026-11-{day:02}-esm-memory.md", f"2026-11-{day:02}T{hour:02}:00:00Z")


def item(name: str, text: str, *, day: int = 1, kind: str = "", sync: str = "candidate") -> Item:
    return replace(made(name, kind or name.split("-", maxsplit=1)[0], text, (ref(day),)), sync=sync)


def digest_of(*sections: Sequence[Item], status: str = "synced", pending: Sequence[str] = ()) -> str:
    """Return a digest with a section for each list of items."""
    text = render_new("harbor", state_marker(NOW, date(2026, 11, 30)), sync_marker(None, status, pending))
    for number, items in enumerate(sections, 1):
        refs = tuple(dict.fromkeys(each for one in items for each in one.sources)) or (ref(number),)
        text = appended(text, render_section(f"2026-11-{number:02}T10:00:00Z", OLD, refs, items))
    return text


class Kept:
    """A core that holds records as it is told; `failing` says of an operation or a fact why it fails."""

    def __init__(
        self, failing: Callable[[Operation | Fact], str] = lambda _: "", name: str = "builtin"
    ) -> None:
        self.name = name
        self.broken = ""
        self.status: dict[str, str] = {}
        self.confidence: dict[str, float] = {}
        self.calls: list[list[Operation]] = []
        self._failing = failing

    def ingest(self, facts: Sequence[Fact]) -> list[Outcome]:
        done = []
        for fact in facts:
            why = self._failing(fact)
            if not why and self.status.get(fact.hash) not in ("candidate", "approved"):
                self.status[fact.hash] = "candidate"
            done.append(Outcome(fact.hash, not why, self.status.get(fact.hash, ""), why))
        return done

    def refine(self, operations: Sequence[Operation]) -> list[Outcome]:
        self.calls.append(list(operations))
        before = dict(self.status)
        done: list[Outcome] = []
        for number, each in enumerate(operations):
            why = self._failing(each) or self._do(each)
            if why:
                self.status = before
                return [
                    Outcome(_hash(one), ok=False, error=why if n == number else "rolled_back")
                    for n, one in enumerate(operations)
                ]
            done.append(Outcome(_hash(each), ok=True))
        return done

    def rebuild(self, records: Sequence[Record]) -> list[Outcome]:
        self.broken = ""
        self.status = {each.fact.hash: "approved" if each.approved else "candidate" for each in records}
        return [Outcome(each.fact.hash, ok=True) for each in records]

    def _do(self, each: Operation) -> str:
        known = self.status.get(each.old if isinstance(each, Update) else each.hash)
        if known is None:
            return "not_found"
        match each:
            case Promote(found, confidence):
                self.status[found], self.confidence[found] = "approved", confidence
            case Update(old, fact):
                self.status[fact.hash] = "approved"
                self.confidence[fact.hash] = fact.confidence or 0
                if old != fact.hash:
                    self.status[old] = "superseded"
            case Supersede(found):
                if known == "purged":
                    return "purged"
                self.status[found] = "superseded"
            case Purge(found):
                if known == "approved":
                    return "must_supersede_first"
                self.status[found] = "purged"
        return ""

    @property
    def approved(self) -> set[str]:
        return {found for found, status in self.status.items() if status == "approved"}


def _hash(each: Operation) -> str:
    return each.fact.hash if isinstance(each, Update) else each.hash


class Desk:
    """A project with a digest that is refined."""

    def __init__(self, root: Path, text: str, core: Kept | None = None) -> None:
        (root / "memory").mkdir(parents=True, exist_ok=True)
        self.folder = memoryfolder.resolve(root)
        self.core = core
        self.path = self.folder.digest
        self.path.write_bytes(text.encode())

    @property
    def text(self) -> str:
        return self.path.read_bytes().decode()

    @property
    def digest(self):
        return parse_digest(self.text)

    def plan(self) -> dict:
        return as_json(str(self.path), (), sound(proposed(self.digest)))

    def refine(self, plan: dict | None = None, *, yes: bool = True, force: bool = True, **more) -> Report:
        target = more.pop("target", Target(self.folder, self.path, canonical=True))

        def make(digest: Digest) -> Plan:
            return sound(proposed(digest)) if plan is None else accounted(plan, digest)

        return run(
            target,
            make,
            lambda: (self.core, "" if self.core else "the setting semantic is off"),
            now=more.pop("now", NOW),
            approve=lambda _: yes,
            given=plan is not None,
            force=force,
            **more,
        )
