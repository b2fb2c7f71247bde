"""A session that ends is recorded in its project where a person wants that, once, and only what is new of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lamina.formats.daily import parse_daily
from lamina.hosts.render import Said, Turn, render_claude
from live.standing import Machine
from live.test_worker import SESSION, TURNS, leave, run, tell

MORE: list[Turn] = [
    *TURNS,
    Said("user", "We decided to log every retry with its delay, because support could not see them before."),
    Said("assistant", "Every retry is logged with its delay in src/upload.py now."),
]


def records(machine: Machine) -> list[Path]:
    return sorted((machine.project / "memory").glob("*-memory.md"))


def want(machine: Machine) -> None:
    config = Path(machine.env["HOME"]) / ".config" / "lamina" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('record = "on"\n')


@pytest.fixture
def ended(machine: Machine) -> Machine:
    leave(machine)
    tell(machine, "end")
    return machine


def test_nothing_is_written_into_a_project_that_nobody_asked_for(ended: Machine) -> None:
    run(ended)
    assert not (ended.project / "memory").exists()


def test_a_project_can_not_ask_for_it_by_itself(ended: Machine) -> None:
    (ended.project / ".lamina.toml").write_text('record = "on"\n')
    run(ended)
    assert not (ended.project / "memory").exists()


def test_an_ended_session_is_recorded_once(ended: Machine) -> None:
    want(ended)
    run(ended)
    (path,) = records(ended)
    (part,) = parse_daily(path.read_text()).parts
    assert any("retries at three" in bullet.text for bullet in part.bullets if bullet.kind == "decision")
    assert all("Evidence: `session:claude-code/" in bullet.text for bullet in part.bullets if bullet.kind)
    assert f"source=session:claude-code/{SESSION}#0-" in path.read_text()
    before = path.read_bytes()
    tell(ended, "end")
    run(ended)
    assert path.read_bytes() == before


def test_of_a_session_that_goes_on_only_the_rest_is_recorded(ended: Machine) -> None:
    want(ended)
    run(ended)
    (path,) = records(ended)
    before = path.read_text()
    started = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
    text = render_claude(SESSION, MORE, cwd=str(ended.project), started=started)
    ended.transcript(SESSION).write_text(text)
    tell(ended, "end")
    run(ended)
    after = path.read_text()
    assert after.startswith(before)
    first, second = parse_daily(after).parts
    assert any("log every retry" in bullet.text for bullet in second.bullets)
    assert not {bullet.text for bullet in first.bullets if bullet.kind} & {
        bullet.text for bullet in second.bullets
    }


def test_a_turn_that_ends_is_no_end_of_the_session(machine: Machine) -> None:
    want(machine)
    leave(machine)
    tell(machine, "stop")
    run(machine)
    assert not records(machine)


def test_a_record_that_can_not_be_written_stops_nothing(ended: Machine) -> None:
    want(ended)
    (ended.project / "memory").write_text("a file")
    run(ended)
    assert list((ended.root / "digests").glob("*.md"))
    assert "worker_failed" in (ended.root / "logs" / "memory.log").read_text()
