"""Lays the entries of a store beside what the sessions held: deterministic, by the anchors alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lamina.evaluation.consolidation.cases import Chain, Fact, Trap
from lamina.evaluation.consolidation.scene import HOME, uuid_of
from lamina.formats.source import SessionRef, parse_sources
from lamina.pipeline.changes import without_conflict
from lamina.pipeline.ground import Shown, inventions
from lamina.store.store import Located

IN_FORCE = ("approved", "candidate")


@dataclass(frozen=True, slots=True)
class Remembered:
    """An entry as it is judged."""

    id: str
    text: str
    scope: str
    layer: str
    trust: str
    sessions: frozenset[str]

    @property
    def in_force(self) -> bool:
        """Whether it is approved or a candidate."""
        return self.trust in IN_FORCE


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one fact.

    `entries` in force say it. Of one that ended, `old` are those that say it as if it held, and `kept` tells
    that its text is there, out of force.
    """

    chain: Chain
    fact: Fact
    entries: tuple[Remembered, ...]
    old: tuple[Remembered, ...] = ()
    kept: bool = False

    @property
    def ended(self) -> bool:
        """Whether a later session ended the fact."""
        return bool(self.fact.until)

    @property
    def best(self) -> Remembered | None:
        """The entry that is filed best of those that say it."""
        return max(self.entries, key=lambda each: sum(self._fits(each)), default=None)

    @property
    def misfiled(self) -> tuple[str, ...]:
        """Which of layer, scope and trust are not as expected."""
        if self.best is None:
            return ()
        names = ("layer", "scope", "trust")
        return tuple(name for name, fits in zip(names, self._fits(self.best), strict=True) if not fits)

    @property
    def duplicates(self) -> int:
        """How many entries in force say it beyond one."""
        return max(0, len(self.entries) - 1)

    def _fits(self, entry: Remembered) -> tuple[bool, bool, bool]:
        fact = self.fact
        scopes = {f"workspace:{self.chain.project}" if each == "workspace" else each for each in fact.scopes}
        return entry.layer in fact.layers, entry.scope in scopes, entry.trust == fact.trust


@dataclass(frozen=True, slots=True)
class Fallen:
    """A trap and the entry that stands in it."""

    chain: Chain
    trap: Trap
    entry: Remembered


@dataclass(frozen=True, slots=True)
class Invented:
    """An entry that holds values which stand nowhere in the sessions."""

    entry: Remembered
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """All that was found."""

    chains: tuple[Chain, ...]
    entries: tuple[Remembered, ...]
    verdicts: tuple[Verdict, ...]
    fallen: tuple[Fallen, ...] = field(default=())
    invented: tuple[Invented, ...] = field(default=())


def judge(chains: Sequence[Chain], located: Iterable[Located]) -> Judged:
    """Judge every entry of a store, whatever its trust, and every fact and trap of the chains."""
    return judge_entries(chains, tuple(map(remembered, located)))


def judge_entries(chains: Sequence[Chain], entries: Sequence[Remembered]) -> Judged:
    """Judge entries, as `judge`."""
    material = Shown("\n".join((HOME, *(chain.project for chain in chains), *_said(chains))))
    found = ((each, inventions(each.text, material)) for each in entries)
    invented = tuple(Invented(each, tuple(values)) for each, values in found if values)
    verdicts = tuple(_verdict(chain, fact, entries) for chain in chains for fact in chain.facts)
    fallen = tuple(each for chain in chains for each in _fallen(chain, entries))
    return Judged(tuple(chains), tuple(entries), verdicts, fallen, invented)


def remembered(located: Located) -> Remembered:
    """Give an entry as it is judged."""
    entry = located.entry
    text = f"{entry.heading}\n{without_conflict(entry.body)}"
    sessions = frozenset(ref.session for ref in parse_sources(entry.source) if isinstance(ref, SessionRef))
    return Remembered(entry.id, text, located.scope.name, located.layer, entry.trust, sessions)


def _said(chains: Iterable[Chain]) -> Iterator[str]:
    return (talk.text for chain in chains for talk in chain.talks)


def _verdict(chain: Chain, fact: Fact, entries: Sequence[Remembered]) -> Verdict:
    mine = _of(chain, entries)
    holding = [each for each in mine if fact.anchors.hold(each.text)]
    if not fact.until:
        return Verdict(chain, fact, tuple(each for each in holding if each.in_force))
    later = [each.anchors for each in chain.facts if fact.until in each.sessions]
    old = [
        each for each in holding if each.in_force and not any(anchors.hold(each.text) for anchors in later)
    ]
    return Verdict(chain, fact, (), tuple(old), kept=any(not each.in_force for each in holding))


def _fallen(chain: Chain, entries: Sequence[Remembered]) -> Iterator[Fallen]:
    mine = _of(chain, entries)
    for trap in chain.traps:
        for each in entries if trap.where else mine:
            if each.in_force and trap.holds(each.text, each.scope):
                yield Fallen(chain, trap, each)


def _of(chain: Chain, entries: Sequence[Remembered]) -> list[Remembered]:
    """Give the entries that come from a chain's sessions, or stand in its project."""
    ids = {uuid_of(chain, talk) for talk in chain.talks}
    return [each for each in entries if each.sessions & ids or each.scope == f"workspace:{chain.project}"]
