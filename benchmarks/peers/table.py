"""The figures as Markdown tables, each with its ratio to Lamina's in the same run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from benchmarks.peers.handshake import Handshake
from benchmarks.peers.measure import Measured

Value = float | None


class Column(NamedTuple):
    """One figure: how it is taken, written, and whether more of it is better (None: neither is)."""

    title: str
    take: Callable[[Measured], Value]
    write: Callable[[float], str]
    more_is_better: bool | None


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def milliseconds(value: float) -> str:
    return f"{value:.1f} ms" if value < 100 else f"{value:,.0f} ms"


def megabytes(value: float) -> str:
    return f"{value:.1f} MB" if value < 10 else f"{value:,.0f} MB"


def count(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


QUALITY = (
    Column("recall@10", lambda each: each.quality.recall, percent, True),
    Column("recall in the first 10 turns", lambda each: each.quality.recall_turns, percent, True),
    Column("hit@5", lambda each: each.quality.hit, percent, True),
    Column("MRR", lambda each: each.quality.mrr, percent, True),
    Column("turns shown", lambda each: each.quality.turns, count, None),
    Column("characters shown", lambda each: each.quality.characters, count, None),
)
COSTS = (
    Column("index", lambda each: each.costs.index_s, seconds, False),
    Column("one changed file", lambda each: each.costs.update_s, seconds, False),
    Column("cold search", lambda each: each.costs.cold_s, seconds, False),
    Column("warm p50", lambda each: each.costs.warm_ms[0], milliseconds, False),
    Column("warm p95", lambda each: each.costs.warm_ms[1], milliseconds, False),
    Column("memory, index", lambda each: each.costs.index_mb, megabytes, False),
    Column("memory, search", lambda each: each.costs.search_mb, megabytes, False),
    Column("disk", lambda each: each.costs.disk_mb, megabytes, False),
)
SERVER = (
    Column("handshake", lambda each: each.handshake.first_s, seconds, False),
    Column("with tool list", lambda each: each.handshake.listed_s, seconds, False),
    Column("tools", lambda each: each.handshake.tools, lambda value: f"{value:.0f}", None),
    Column("schemas, tokens", lambda each: each.handshake.tokens, lambda value: f"{value:,.0f}", False),
)


def is_better(column: Column, value: Value, own: Value) -> bool:
    """Tell whether a figure, as written, beats Lamina's; a step that a tool does not need costs nothing."""
    if column.more_is_better is None or own is None:
        return False
    if value is None:
        return not column.more_is_better
    if column.write(value) == column.write(own):
        return False
    return value > own if column.more_is_better else value < own


def table(columns: Sequence[Column], measured: Sequence[Measured], own: Measured | None) -> list[str]:
    """Return the lines of one table; what beats Lamina is bold."""
    lines = ["| tool | " + " | ".join(column.title for column in columns) + " |"]
    lines.append("| --- |" + " ---: |" * len(columns))
    for each in measured:
        cells = [_cell(column, each, own) for column in columns]
        lines.append(f"| {each.title} | " + " | ".join(cells) + " |")
    return lines


def _cell(column: Column, each: Measured, own: Measured | None) -> str:
    value = column.take(each)
    base = column.take(own) if own else None
    written = "none" if value is None else column.write(value)
    if own is None or each.name == own.name:
        return written
    if value is not None and base:
        written += f" ({ratio(value / base)})"
    is_peer = not each.name.startswith("lamina")
    return f"**{written}**" if is_peer and is_better(column, value, base) else written


def ratio(value: float) -> str:
    """Write a ratio to Lamina's figure."""
    return f"×{value:.2f}" if value < 10 else f"×{value:,.0f}"


def beaten(columns: Iterable[Column], measured: Sequence[Measured], own: Measured | None) -> list[str]:
    """Return one line for each figure in which a peer is better than Lamina."""
    lines = []
    for column in columns if own else ():
        base = column.take(own)
        better = [
            each
            for each in measured
            if not each.name.startswith("lamina") and is_better(column, column.take(each), base)
        ]
        if better:
            told = ", ".join(f"{each.title} {_told(column, column.take(each))}" for each in better)
            lines.append(f"- {column.title}: {told} (Lamina {_told(column, base)})")
    return lines


def _told(column: Column, value: Value) -> str:
    return "needs none" if value is None else column.write(value)


def by_language(measured: Sequence[Measured]) -> list[str]:
    """Return a table of hit@5 and recall@10 for each language, if there are several."""
    languages = sorted({kind for each in measured for kind in each.kinds})
    if not languages:
        return []
    lines = ["| tool | " + " | ".join(languages) + " |", "| --- |" + " ---: |" * len(languages)]
    for each in measured:
        cells = [
            f"{percent(each.kinds[kind].hit)} / {percent(each.kinds[kind].recall)}"
            if kind in each.kinds
            else ""
            for kind in languages
        ]
        lines.append(f"| {each.title} | " + " | ".join(cells) + " |")
    return lines


def warmed(measured: Iterable[Measured]) -> list[str]:
    """Tell what a search costs the tool's own command while a process of the tool keeps search warm."""
    return [
        f"\n{each.title}: {seconds(each.costs.kept_warm[0])} for a cold search while its own process keeps "
        f"search warm; that process takes {megabytes(each.costs.kept_warm[1])}."
        for each in measured
        if each.costs.kept_warm
    ]


def report(measured: Sequence[Measured]) -> str:
    """Return all tables of one set, what beats Lamina, and what could not be measured."""
    done = [each for each in measured if not each.reason]
    own = next((each for each in done if each.name.startswith("lamina")), None)
    served = [each for each in done if isinstance(each.handshake, Handshake)]
    own_server = next((each for each in served if each.name.startswith("lamina")), None)
    parts = [["### Quality", "", *table(QUALITY, done, own)]]
    languages = by_language(done)
    if languages:
        parts.append(["### hit@5 / recall@10 by language", "", *languages])
    parts.append(["### Costs", "", *table(COSTS, done, own), *warmed(done)])
    if served:
        parts.append(["### MCP servers", "", *table(SERVER, served, own_server)])
    wins = beaten((*QUALITY, *COSTS), done, own) + beaten(SERVER, served, own_server)
    parts.append(["### Where a peer is better than Lamina", "", *(wins or ["- in no figure"])])
    missing = [f"- {each.title}: {each.reason}" for each in measured if each.reason]
    missing += [
        f"- {each.title}, MCP: {each.handshake}"
        for each in done
        if isinstance(each.handshake, str) and each.handshake
    ]
    missing += [
        f"- {each.title}: {each.failed} searches failed and count as found nothing"
        for each in done
        if each.failed
    ]
    if missing:
        parts.append(["### What could not be measured", "", *missing])
    return "\n\n".join("\n".join(part) for part in parts) + "\n"
