"""The page that a run writes: the command, the tables of each set, and what has to be known to read them."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from benchmarks.peers.data import KINDS, Data
from benchmarks.peers.environments import version_of
from benchmarks.peers.measure import Measured
from benchmarks.peers.table import report
from benchmarks.peers.tools import TOOLS

PATHS = {"--work": "", "--markdown": "", **{f"--{name}": what for name, (_, what, _) in KINDS.items()}}


def body(results: Sequence[tuple[Data, Sequence[Measured]]], endpoint_mb: float) -> str:
    """Return the tables and notes of a run."""
    parts = [machine_line()]
    parts += [f"## {data.title}\n\n{data.line()}\n\n{report(measured)}" for data, measured in results]
    told = notes(results[0][1], endpoint_mb, max(len(data.corpora) for data, _ in results))
    parts.append("\n".join(["## Notes", "", *(f"- {note}" for note in told)]))
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def page(arguments: Sequence[str], text: str) -> str:
    """Return the page of the documentation; paths of this machine stay out of it."""
    shown = [each for each in _named(arguments) if each]
    command = shlex.join(["python", "-m", "benchmarks.peers", *shown])
    return f"# Lamina beside other tools\n\nWritten by this command; do not edit.\n\n    {command}\n\n{text}"


def machine_line() -> str:
    """Say when, on what kind of machine and beside how much other work it ran."""
    day = datetime.now(UTC).date().isoformat()
    cores = len(os.sched_getaffinity(0))
    here = f"{platform.system()}, Python {platform.python_version()}"
    return f"{day}, {cores} cores, {here}, load {os.getloadavg()[2]:.1f} at the end."


def notes(measured: Sequence[Measured], endpoint_mb: float, corpora: int) -> list[str]:
    """Return what has to be known to read the tables."""
    names = {each.name for each in measured}
    told = [
        "A ratio is to Lamina's figure in the same run; bold means better than Lamina.",
        "recall@10 counts all turns in ten results; recall in the first 10 turns stops at ten turns.",
        "A result shows a turn if it holds all of its wording, half of it, or 200 characters in a row.",
        "Index, changed file and cold search are processes started anew; of the last two the best of three.",
        "For a tool whose search brings the index up to date, the changed file is timed with that search.",
        "Warm is one search after another in one process. Times are wall clock. Memory is the peak (VmHWM).",
    ]
    if corpora > 1:
        told.append("Index and disk are sums over all corpora; changed file and cold search are the first's.")
    if any(tool.endpoint and tool.name in names for tool in TOOLS):
        told.append(
            "The installed tools get their embedding (wordllama, 256 dimensions) from a server on the same "
            f"machine that is warm already; its {endpoint_mb:.0f} MB and its start are not in their figures, "
            "while Lamina loads its own embedder itself."
        )
    for tool in TOOLS:
        if tool.note and tool.name in names:
            version = version_of(tool.name) if tool.endpoint else ""
            told.append(f"{tool.title}{' ' + version if version else ''}: {tool.note}")
    return told


def _named(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the command line with words in place of paths, without what does not change the figures."""
    waiting = None
    for each in arguments:
        name, given, _ = each.partition("=")
        if waiting is not None:
            yield waiting
            waiting = None
        elif name in PATHS:
            yield name if PATHS[name] else ""
            waiting = None if given else PATHS[name]
            if given:
                yield PATHS[name]
        else:
            yield each
