"""Measures the whole way without a model: sessions as transcripts, imported, asked, set beside the raw turns.

The data has the shape of DevMemBench: sessions of `{sessionId, metadata: {date, project},
messages: [{role, content}]}` and questions of `{question, questionType, groundTruth, haystackSessionIds}`.
Two figures, in percent: hit@5, how often one of the first five results comes from a session that holds the
answer, and coverage, the mean share of the answer's content words and numbers that stand in the first 2,000
characters of those five.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from lamina.errors import BadInput, NoSuchFile
from lamina.formats.event import Session
from lamina.formats.source import SessionRef, parse_sources
from lamina.hosts.render import Said, render_claude, render_codex, session_uuid
from lamina.index import words
from lamina.index.embedded import Embedded
from lamina.index.raw import RawTexts
from lamina.index.source import StoreSource
from lamina.pipeline import recall
from lamina.store.identity import Workspace, resolve
from lamina.store.registry import Registry
from lamina.store.store import Store

HITS = 5
CHARS = 2_000
_FIRST_DAY = date(2025, 1, 1)  # of data that tells no dates
_HOME = "/home/lamina-eval"  # a folder that no machine has: each project in it is known by its name
_HOSTS = ("claude-code", "codex")


class Talk(NamedTuple):
    """One session of the data."""

    id: str
    uuid: str
    project: str
    started: datetime
    said: tuple[Said, ...]


class Asked(NamedTuple):
    """One question of the data; `gold` are the sessions that hold its answer: none if it has no answer."""

    text: str
    kind: str
    answer: str
    gold: frozenset[str]


class Score(NamedTuple):
    """How one question went."""

    kind: str
    hit: bool
    covered: float


@dataclass(frozen=True, slots=True)
class Result:
    """What one search gave: the sessions it comes from and the text, best first."""

    sessions: frozenset[str]
    text: str


def eval_pipeline(
    sessions: Path, questions: Path | None = None, workdir: Path | None = None, *, host: str = "claude-code"
) -> dict[str, Any]:
    """Measure Lamina and plain full text search on a set; the store is made in `workdir`, else thrown away.

    `sessions` is the file, or the folder that holds it and `questions.json`. Raises BadInput or NoSuchFile.
    """
    import tempfile

    talks, asked = load(sessions, questions)
    if workdir is not None:
        return _measure(talks, asked, workdir, host)
    with tempfile.TemporaryDirectory(prefix="lamina-eval-") as made:
        return _measure(talks, asked, Path(made), host)


def _measure(talks: Sequence[Talk], asked: Sequence[Asked], workdir: Path, host: str) -> dict[str, Any]:
    started = time.perf_counter()
    files = _render(talks, workdir / "transcripts", host)
    store, imported = _import(files, workdir / "store", max(talk.started for talk in talks))
    seconds = time.perf_counter() - started
    with closing(_Memory(store, talks)) as memory:
        lamina = [_score(one, memory.ask(one.text)) for one in asked if one.gold]
    turns = [(talk.id, said.text) for talk in talks for said in talk.said]
    with closing(RawTexts(text for _, text in turns)) as table:
        raw = [_score(one, _raw(table, turns, one.text)) for one in asked if one.gold]
    sizes = {
        "transcripts": sum(file.stat().st_size for file in files),
        "messages": sum(len(text.encode()) for _, text in turns),
        "markdown": _markdown(store),
    }
    return _figures(lamina, raw, sizes, {**imported, "seconds": round(seconds, 2)})


# --- the data ---------------------------------------------------------------------------------------


def load(sessions: Path, questions: Path | None = None) -> tuple[list[Talk], list[Asked]]:
    """Read a set, checked; raises BadInput or NoSuchFile, naming the file and the place in it."""
    folder = sessions if sessions.is_dir() else sessions.parent
    sessions = sessions / "sessions.json" if sessions.is_dir() else sessions
    questions = questions or folder / "questions.json"
    talks = [
        _talk(each, f"{sessions}: session {at}", at) for at, each in enumerate(_listed(sessions, "sessions"))
    ]
    asked = [
        _asked(each, f"{questions}: question {at}") for at, each in enumerate(_listed(questions, "questions"))
    ]
    ids = {talk.id for talk in talks}
    if len(ids) < len(talks):
        raise BadInput(f"{sessions}: two sessions have one sessionId", "give each session an id of its own")
    strange = sorted({id_ for one in asked for id_ in one.gold} - ids)
    if strange:
        raise BadInput(
            f"{questions}: names the session {strange[0]!r}, which {sessions.name} has not", _SHAPE
        )
    if not any(one.gold for one in asked):
        raise BadInput(f"{questions}: no question names a session that answers it", _SHAPE)
    return talks, asked


_SHAPE = "docs/guides/measuring.md tells the shape of both files"


def _listed(path: Path, name: str) -> list[Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise NoSuchFile(f"{path}: no such file", f"name the {name} file or its folder") from None
    except OSError as problem:
        raise BadInput(
            f"{path}: can't be read ({problem.strerror})", f"name a readable {name} file"
        ) from None
    except ValueError as problem:
        raise BadInput(f"{path}: is no JSON ({problem})", f"name a JSON file of {name}") from None
    listed = found.get(name) if isinstance(found, dict) else found
    if not isinstance(listed, list) or not listed:
        raise BadInput(f"{path}: holds no list of {name}", _SHAPE)
    return listed


def _talk(each: Any, place: str, at: int) -> Talk:
    data = each if isinstance(each, Mapping) else {}
    meta = data.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    id_, messages = data.get("sessionId"), data.get("messages")
    if not isinstance(id_, str) or not id_ or not isinstance(messages, list):
        raise BadInput(f"{place}: needs a sessionId and messages", _SHAPE)
    day = str(meta.get("date") or _FIRST_DAY + timedelta(days=at))
    try:
        started = datetime.fromisoformat(day[:10]).replace(hour=9, tzinfo=UTC)
    except ValueError:
        raise BadInput(f"{place}: {day!r} is not a day", "write dates as YYYY-MM-DD") from None
    return Talk(
        id_, session_uuid(id_), str(meta.get("project") or "project"), started, tuple(_said(messages, place))
    )


def _said(messages: Iterable[Any], place: str) -> Iterable[Said]:
    for message in messages:
        role, text = (
            (message.get("role"), message.get("content")) if isinstance(message, Mapping) else ("", "")
        )
        if not isinstance(text, str):
            raise BadInput(f"{place}: a message has no text as its content", _SHAPE)
        if role == "user":
            yield Said("user", text)
        elif role == "assistant":
            yield Said("assistant", text)


def _asked(each: Any, place: str) -> Asked:
    data = each if isinstance(each, Mapping) else {}
    text, answer, gold = data.get("question"), data.get("groundTruth"), data.get("haystackSessionIds", [])
    if (
        not isinstance(text, str)
        or not text.strip()
        or not isinstance(answer, str)
        or not isinstance(gold, list)
    ):
        raise BadInput(f"{place}: needs a question, a groundTruth and haystackSessionIds", _SHAPE)
    return Asked(text, str(data.get("questionType") or "all"), answer, frozenset(map(str, gold)))


# --- the way ----------------------------------------------------------------------------------------


def _render(talks: Iterable[Talk], folder: Path, host: str) -> list[Path]:
    """Write each session as the host would have left it."""
    if host not in _HOSTS:
        raise BadInput(f"no transcripts can be rendered for the host {host!r}", f"hosts: {', '.join(_HOSTS)}")
    render = render_codex if host == "codex" else render_claude
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for talk in talks:
        file = folder / f"{talk.uuid}.jsonl"
        text = render(talk.uuid, talk.said, cwd=f"{_HOME}/{talk.project}", started=talk.started)
        file.write_text(text, encoding="utf-8", newline="")
        files.append(file)
    return files


def _import(files: Sequence[Path], root: Path, at: datetime) -> tuple[Store, dict[str, Any]]:
    """Read the transcripts into a new store; each folder is a workspace of its name."""
    from lamina.pipeline.importing import import_sessions

    if root.exists():
        raise BadInput(f"{root}: there is a store already", "name an empty folder to work in")
    store = Store.open(root, create=True, now=at)
    home = root.parent

    def workspace(session: Session) -> Workspace:
        return resolve(session.cwd or None, registry=Registry.load(root), env={}, home=home)

    done = import_sessions(
        store, files, home=home, env={}, resolve=workspace, now=lambda: at, progress=lambda _: None
    )
    return store, {"notes": done["notes"], "entries": done["entries"]}


def _markdown(store: Store) -> int:
    """Count the bytes of all Markdown in the layers: entries with their fields, and the generated indexes."""
    folders = (store.root / "global", store.root / "workspaces")
    return sum(file.stat().st_size for folder in folders for file in folder.rglob("*.md"))


class _Memory:
    """The imported store, asked through Lamina's own search."""

    def __init__(self, store: Store, talks: Sequence[Talk]) -> None:
        self._index = Embedded(store.layout.index)
        self._index.refresh(StoreSource(store.root))
        self._texts = {each.entry.id: f"{each.entry.heading}\n{each.entry.body}" for each in store.entries()}
        self._ids = {talk.uuid: talk.id for talk in talks}
        self._today = max(talk.started for talk in talks).date()

    def ask(self, question: str) -> Result:
        """Search all scopes."""
        query = recall.question(question, scope="all", limit=HITS)
        hits = recall.search(self._index, query, today=self._today).hits
        refs = [ref for hit in hits for ref in parse_sources(hit.source) if isinstance(ref, SessionRef)]
        sessions = frozenset(self._ids[ref.session] for ref in refs if ref.session in self._ids)
        return Result(sessions, "\n".join(self._texts.get(hit.id, hit.snippet) for hit in hits))

    def close(self) -> None:
        """Close the index."""
        self._index.close()


def _raw(table: RawTexts, turns: Sequence[tuple[str, str]], question: str) -> Result:
    found = [turns[at] for at in table.search(question, HITS)]
    return Result(frozenset(id_ for id_, _ in found), "\n".join(text for _, text in found))


# --- the figures ------------------------------------------------------------------------------------


def content(text: str) -> frozenset[str]:
    """Give a text's content words and numbers, by the rule that both sides are measured with."""
    found = re.findall(r"\w+", words.expand(text).casefold())
    return frozenset(word for word in found if word not in words.STOP_WORDS)


def _score(asked: Asked, result: Result) -> Score:
    wanted = content(asked.answer)
    covered = len(wanted & content(result.text[:CHARS])) / len(wanted) if wanted else 0.0
    return Score(asked.kind, bool(asked.gold & result.sessions), covered)


def _mean(scores: Sequence[Score]) -> dict[str, float]:
    count = len(scores)
    hit, covered = sum(score.hit for score in scores), sum(score.covered for score in scores)
    return {"hit@5": round(100 * hit / count, 1), "coverage": round(100 * covered / count, 1)}


def _beside_raw(share: float | None) -> list[str]:
    """Return the line on coverage; without any answers there is nothing to compare."""
    return [] if share is None else [f"coverage is {share}% of what plain FTS5 over the raw turns reaches"]


def _figures(
    lamina: Sequence[Score], raw: Sequence[Score], sizes: Mapping[str, int], imported: Mapping[str, Any]
) -> dict[str, Any]:
    kinds = {}
    for kind in sorted({score.kind for score in lamina}):
        ours = [score for score in lamina if score.kind == kind]
        theirs = [score for score in raw if score.kind == kind]
        kinds[kind] = {"n": len(ours), "lamina": _mean(ours), "raw": _mean(theirs)}
    overall = {"lamina": _mean(lamina), "raw": _mean(raw)}
    base = overall["raw"]["coverage"]
    figures = {
        "n": len(lamina),
        **overall,
        "coverage_of_raw": round(100 * overall["lamina"]["coverage"] / base, 1) if base else None,
        "by_kind": kinds,
        "bytes": dict(sizes),
        "markdown_to_transcripts": round(sizes["markdown"] / sizes["transcripts"], 3),
        "markdown_to_messages": round(sizes["markdown"] / max(1, sizes["messages"]), 3),
        **imported,
    }
    return figures | {"table": _table(figures)}


def _table(figures: Mapping[str, Any]) -> str:
    """Write the figures for a person."""
    rows = [("all", figures), *figures["by_kind"].items()]
    width = max(len(name) for name, _ in rows)
    lines = [f"{'':{width}}    n   hit@5   raw   coverage   raw"]
    for name, row in rows:
        ours, theirs = row["lamina"], row["raw"]
        lines.append(
            f"{name:{width}} {row['n']:4}  {ours['hit@5']:6.1f} {theirs['hit@5']:5.1f}"
            f"     {ours['coverage']:6.1f} {theirs['coverage']:5.1f}"
        )
    size = figures["bytes"]
    lines += [
        "",
        *_beside_raw(figures["coverage_of_raw"]),
        f"memory: {size['markdown']:,} bytes of Markdown",
        f"= {figures['markdown_to_transcripts']:.3f} of the transcripts ({size['transcripts']:,} bytes)",
        f"= {figures['markdown_to_messages']:.3f} of the bare messages ({size['messages']:,} bytes)",
        f"{figures['entries']} entries from {figures['notes']} notes in {figures['seconds']} s",
    ]
    return "\n".join(lines)
