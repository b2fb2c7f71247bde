"""Plays the chains: transcripts as the hosts would have left them, imported day by day into a new store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lamina.evaluation.consolidation.cases import Chain, Talk
from lamina.hosts.render import Origin, render_claude, render_codex, session_uuid
from lamina.memory import Memory
from lamina.memory.opened import Opened
from lamina.settings import Settings

HOME = "/home/lamina-eval"  # a folder that no machine has: each project in it is known by its name
_MORNING, _EVENING = time(9, tzinfo=UTC), time(20, tzinfo=UTC)
_ASKING = (
    "model",
    "model_routes",
    "model_base_url",
    "model_timeout_s",
    "model_daily_calls",
    "model_daily_tokens",
)
"""Settings of the person that hold here: which models may be asked, where, and how much."""


class Scene:
    """A store in a temporary folder with a clock that stands still, and the transcripts beside it."""

    def __init__(self, base: Path, env: Mapping[str, str]) -> None:
        self.base = base
        self.now = datetime.combine(date(2026, 9, 1), _MORNING)
        home = base / "home"
        home.mkdir()
        quiet = {name: value for name, value in env.items() if not name.startswith("LAMINA_")}
        own = Settings.load(
            env={}, home=home, flags={"root": str(base / "store"), "note_signal_chars": 1, **_asking(env)}
        )
        self.opened = Opened(own, env=quiet, home=home, cwd=home, explicit=None, clock=lambda: self.now)
        self.memory = Memory(self.opened)
        self.waits: list[str] = []

    def play(
        self,
        chains: Iterable[Chain],
        model: str = "none",
        *,
        at_once: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _of: None,
    ) -> None:
        """Import the sessions of each day on its evening, or all of them together."""
        days = waves(chains, at_once=at_once)
        for done, (day, talks) in enumerate(days):
            progress(done, len(days))
            self.now = datetime.combine(day, _EVENING)
            files = [self._written(chain, talk) for chain, talk in talks]
            told = self.memory.import_sessions(files, model=model)
            if told["model"]["waits"]:
                self.waits.append(told["model"]["waits"])

    def _written(self, chain: Chain, talk: Talk) -> Path:
        own = uuid_of(chain, talk)
        folder = self.base / "transcripts" / str(talk.day)
        file = folder / f"{own}.jsonl"
        if talk.of and talk.host == "claude-code":
            file = folder / uuid_named(chain, talk.of) / "subagents" / f"agent-{own[:8]}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(transcript(chain, talk), encoding="utf-8", newline="")
        return file

    def close(self) -> None:
        """Close the index."""
        self.memory.close()


@contextmanager
def staged(env: Mapping[str, str]) -> Iterator[Scene]:
    """Open a scene in a folder that is thrown away."""
    with TemporaryDirectory(prefix="lamina-eval-") as base:
        scene = Scene(Path(base), env)
        try:
            yield scene
        finally:
            scene.close()


def transcript(chain: Chain, talk: Talk) -> str:
    """Render a session as its host's transcript."""
    cwd, started = f"{HOME}/{chain.project}", datetime.combine(talk.day, _MORNING)
    if talk.host == "codex":
        origin = Origin(parent=uuid_named(chain, talk.of)) if talk.of else None
        return render_codex(uuid_of(chain, talk), talk.turns, cwd=cwd, started=started, origin=origin)
    session = uuid_named(chain, talk.of or talk.name)
    agent = uuid_of(chain, talk)[:8] if talk.of else ""
    return render_claude(session, talk.turns, cwd=cwd, started=started, agent=agent)


def waves(chains: Iterable[Chain], *, at_once: bool = False) -> list[tuple[date, list[tuple[Chain, Talk]]]]:
    """Give the sessions of each day in their order; `at_once` takes the last day for all."""
    listed = sorted(((chain, talk) for chain in chains for talk in chain.talks), key=lambda each: each[1].day)
    if at_once:
        return [(listed[-1][1].day, listed)]
    return [(day, list(some)) for day, some in groupby(listed, key=lambda each: each[1].day)]


def uuid_of(chain: Chain, talk: Talk) -> str:
    """Give a session's id."""
    return uuid_named(chain, talk.name)


def uuid_named(chain: Chain, name: str) -> str:
    """Give the id of the session of this name."""
    return session_uuid(f"{chain.name}/{name}")


def _asking(env: Mapping[str, str]) -> dict[str, Any]:
    """Give what the person's settings say of models, and no other setting of theirs."""
    own = Settings.load(env=env)
    return {key: own[key] for key in _ASKING}
