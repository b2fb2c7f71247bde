"""The shipped transcripts: made from their dialogues, and read without a fault."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lamina.formats.event import Author, Event, Kind
from lamina.hosts.base import detect

ROOT = Path(__file__).parents[2]
SESSIONS = ROOT / "examples" / "sessions"
FILES = sorted(SESSIONS.rglob("*.jsonl"))


def test_sessions_are_made_from_the_dialogues_byte_for_byte(tmp_path: Path) -> None:
    script = ROOT / "examples" / "make_examples.py"
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, env=env, capture_output=True)
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.jsonl")}
    assert made == {path.relative_to(SESSIONS): path.read_bytes() for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[-12:])
def test_each_session_reads_whole(path: Path) -> None:
    host = detect(path)
    assert host is not None
    assert path.parent.name == host.name
    transcript = host.read(path)
    found = list(transcript)
    events = [item for item in found if isinstance(item, Event)]
    assert events == found
    assert 5_000 < path.stat().st_size < 41_000
    assert transcript.session.cwd.startswith("/home/mira/")
    assert transcript.session.started is not None
    assert transcript.session.started.year == 2026
    assert transcript.session.id in path.stem
    authors = [event.author for event in events if event.kind == Kind.USER]
    assert len(authors) >= 5
    assert set(authors) == {Author.PERSON}
    assert any(event.failed for event in events)
    assert any(event.paths for event in events)


def test_what_the_examples_show() -> None:
    events = [item for path in FILES for item in detect(path).read(path)]  # type: ignore[union-attr]
    assert len(FILES) == 6
    assert any(event.kind == Kind.COMPACTION for event in events)
    assert any("バース" in event.text for event in events if event.author == Author.PERSON)
