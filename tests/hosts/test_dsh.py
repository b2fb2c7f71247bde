"""DSH's logs, beyond what every host must do; the shapes are those of real runs of 0.2.1-rc.2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.conformance import CWD, STARTED, HostConformance

from lamina.formats.event import Kind
from lamina.hosts.base import Host
from lamina.hosts.dsh import HOST
from lamina.hosts.render import Said, Turn, render_dsh, session_uuid

SID = f"session-{session_uuid('tidepool')}"


class TestDsh(HostConformance):
    host: Host = HOST
    branch = ""

    def render(self, turns: list[Turn], session: str = "") -> str:
        return render_dsh(session or SID, turns, cwd=CWD, started=STARTED)

    def place(self, home: Path, session: str) -> Path:
        return home / ".dsh" / "sessions" / "--tidepool--" / session / "session.v4.jsonl"

    def test_odd_timestamps(self, path: Path) -> None:
        lines = self.render([Said("user", "hello")]).splitlines()
        number = next(at for at, line in enumerate(lines) if '"user/message"' in line)
        values: list[tuple[Any, Any]] = [
            ("2026-03-02T11:00:00+02:00", STARTED),
            (1772442000, STARTED),
            (1772442000000, STARTED),
            ("soon", None),
            (None, None),
            (True, None),
            (float("inf"), None),
            ({}, None),
        ]
        for value, expected in values:
            line = json.dumps({**json.loads(lines[number]), "time": value})
            path.write_text("\n".join([*lines[:number], line, *lines[number + 1 :]]), encoding="utf-8")
            event = next(event for event in self.events(path) if event.kind == Kind.USER)
            assert event.time == expected, value
