"""Run one tool over all corpora and take its figures."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers.environments import Unusable
from benchmarks.peers.figures import Quality, Shown, middle_and_high, quality
from benchmarks.peers.handshake import Handshake, shake_hands
from benchmarks.peers.pages import Chunk, Places, Turn, turns_of, write_pages, write_turns
from benchmarks.peers.processes import ProcessFailed, Worker, closed_environment, run
from benchmarks.peers.tools import Here, Tool
from lamina.evaluation.corpora import Corpus, Question

COLD = 3
UPDATES = 3
EDIT = " (Edited afterwards.)"
Say = Callable[[str], None]


class Costs(NamedTuple):
    """Seconds, milliseconds and MB; None where a tool has no such step.

    `kept_warm`: a cold search while a process keeps search warm, and the peak memory of that process.
    """

    index_s: float | None
    update_s: float | None
    cold_s: float
    warm_ms: tuple[float, float]
    index_mb: float | None
    search_mb: float
    disk_mb: float
    kept_warm: tuple[float, float] | None = None


class Measured(NamedTuple):
    """All about one tool; with a `reason` it could not be measured. `kinds` are languages, if several."""

    name: str
    title: str
    reason: str = ""
    quality: Quality | None = None
    kinds: Mapping[str, Quality] = {}
    costs: Costs | None = None
    handshake: Handshake | str = ""
    failed: int = 0


class Taken(NamedTuple):
    """What one corpus gave."""

    index_s: float | None
    index_mb: float | None
    cold_s: Sequence[float]
    update_s: Sequence[float]
    search_mb: float
    disk_mb: float
    warm_ms: Sequence[float]
    shown: Sequence[tuple[str, Shown]]
    failed: int
    kept_warm: tuple[float, float] | None = None


def measure(
    tool: Tool, corpora: Sequence[Corpus], work: Path, url: str, say: Say, *, greet: bool = True
) -> Measured:
    """Install, index, ask and change one tool; what goes wrong becomes the reason.

    `greet` says whether its MCP server is measured, too.
    """
    try:
        say(f"{tool.title}: installing")
        programs = tool.install(work)
        taken = [
            _one(
                tool,
                corpus,
                Here(programs, work / "runs" / tool.name / f"{number:02}", url),
                say,
                first=number == 0,
            )
            for number, corpus in enumerate(corpora)
        ]
        first = Here(programs, work / "runs" / tool.name / "00", url)
        return _summed(tool, taken, _greeted(tool, first) if greet else "")
    except (Unusable, ProcessFailed) as problem:
        say(f"{tool.title}: {problem}")
        return Measured(tool.name, tool.title, str(problem))


def variables(tool: Tool, here: Here) -> dict[str, str]:
    """Return the environment of a tool's processes."""
    return closed_environment(here.folder / "home", tool.variables(here), [here.programs])


def _one(tool: Tool, corpus: Corpus, here: Here, say: Say, *, first: bool) -> Taken:
    turns = turns_of(corpus)
    shutil.rmtree(here.folder, ignore_errors=True)
    (here.folder / "index").mkdir(parents=True)
    env = variables(tool, here)
    _lay_out(tool, here, env, turns)
    say(f"{tool.title}: indexing {len(turns)} turns of {corpus.name}")
    built = run(tool.index(here), env, here.folder) if tool.index else None
    say(f"{tool.title}: asking {len(corpus.questions)} questions")
    cold = _cold(tool, here, env, corpus.questions) if first else []
    kept_warm = _kept_warm(tool, here, env, corpus.questions) if first and tool.resident else None
    disk = _disk_mb(here.folder / tool.kept) if tool.index else 0.0
    warm, shown, failed, peak = _ask_all(tool, here, env, corpus.questions, Places(turns))
    changed = _update_all(tool, here, env, turns) if first else []
    return Taken(
        built.seconds if built else None,
        built.peak_mb if built else None,
        cold, changed, peak, disk, warm, shown, failed, kept_warm,
    )  # fmt: skip


def _lay_out(tool: Tool, here: Here, env: Mapping[str, str], turns: Sequence[Turn]) -> None:
    write_pages(turns, here.folder / "pages")
    write_turns(turns, here.folder / "turns.jsonl")
    if tool.prepare:
        run(here.driver(tool.driver, "prepare"), env, here.folder)


def _cold(tool: Tool, here: Here, env: Mapping[str, str], questions: Sequence[Question]) -> list[float]:
    """Time whole processes; the first one, which compiles and fills caches, does not count.

    The least of several is what the tool needs; the others waited for something else on the machine, too.
    """
    asked = [each.text for each in questions[: COLD + 1]]
    return [run(tool.cold(here, text), env, here.folder).seconds for text in asked][1:]


def _kept_warm(
    tool: Tool, here: Here, env: Mapping[str, str], questions: Sequence[Question]
) -> tuple[float, float]:
    with Worker(tool.resident(here), env, here.folder, "resident") as resident:
        resident.hear()
        return min(_cold(tool, here, env, questions)), resident.peak_mb()


def _ask_all(
    tool: Tool, here: Here, env: Mapping[str, str], questions: Sequence[Question], places: Places
) -> tuple[list[float], list[tuple[str, Shown]], int, float]:
    warm, shown, failed, told = [], [], 0, ""
    with Worker(here.driver(tool.driver, "serve"), env, here.folder) as worker:
        worker.hear()
        if questions:
            worker.ask({"search": questions[0].text})
        for question in questions:
            answer = worker.ask({"search": question.text})
            warm.append(answer["ms"])
            failed += "failed" in answer
            told = answer.get("failed", told)
            chunks = [Chunk(hit["text"], hit["page"]) for hit in answer["hits"][:10]]
            results = [places.turns_in(chunk) for chunk in chunks]
            characters = sum(len(chunk.text) for chunk in chunks)
            shown.append((question.language, Shown(question.gold, results, characters)))
        peak = worker.peak_mb()
    if failed and failed == len(questions):
        raise ProcessFailed(f"every search failed: {told}")
    return warm, shown, failed, peak


def _update_all(tool: Tool, here: Here, env: Mapping[str, str], turns: Sequence[Turn]) -> list[float]:
    """Change the last turn of some pages, one after another, and time what makes the change searchable."""
    pages = list(dict.fromkeys(turn.page for turn in turns))
    spent = []
    for page in pages[:: max(1, len(pages) // UPDATES)][:UPDATES] if tool.index else ():
        turns = _with_edit(turns, page)
        if (here.folder / "pages" / page).read_text(encoding="utf-8").startswith("---"):
            _append(here.folder / "pages" / page)
            write_turns(turns, here.folder / "turns.jsonl")
        else:
            _lay_out(tool, here, env, turns)
        word = next(turn.text for turn in reversed(turns) if turn.page == page)
        command = tool.update(here, page) if tool.update else tool.cold(here, word[-60:])
        spent.append(run(command, env, here.folder).seconds)
    return spent


def _with_edit(turns: Sequence[Turn], page: str) -> list[Turn]:
    last = max(number for number, turn in enumerate(turns) if turn.page == page)
    return [
        turn._replace(text=turn.text + EDIT) if number == last else turn for number, turn in enumerate(turns)
    ]


def _append(path: Path) -> None:
    """Edit a page that its tool has rewritten with front matter of its own."""
    path.write_text(path.read_text(encoding="utf-8").rstrip() + EDIT + "\n", encoding="utf-8")


def _greeted(tool: Tool, here: Here) -> Handshake | str:
    if tool.mcp is None:
        return ""
    env = variables(tool, here)
    try:
        shake_hands(tool.mcp(here), env, here.folder)
        return shake_hands(tool.mcp(here), env, here.folder)
    except ProcessFailed as problem:
        return str(problem)


def _summed(tool: Tool, taken: Sequence[Taken], greeted: Handshake | str) -> Measured:
    by_kind: dict[str, list[Shown]] = defaultdict(list)
    for kind, shown in (each for one in taken for each in one.shown):
        by_kind[kind].append(shown)
    cold = [each for one in taken for each in one.cold_s]
    updates = [each for one in taken for each in one.update_s]
    costs = Costs(
        sum(one.index_s for one in taken) if tool.index else None,
        min(updates) if updates else None,
        min(cold),
        middle_and_high([each for one in taken for each in one.warm_ms]),
        max(one.index_mb for one in taken) if tool.index else None,
        max(one.search_mb for one in taken),
        sum(one.disk_mb for one in taken),
        taken[0].kept_warm,
    )
    whole = quality(shown for kind in by_kind.values() for shown in kind)
    kinds = {kind: quality(by_kind[kind]) for kind in sorted(by_kind)} if len(by_kind) > 1 else {}
    failed = sum(one.failed for one in taken)
    return Measured(tool.name, tool.title, "", whole, kinds, costs, greeted, failed)


def _disk_mb(folder: Path) -> float:
    return sum(each.stat().st_blocks * 512 for each in folder.rglob("*") if each.is_file()) / 1e6
