"""DSH's logs, beyond what every host must do; the shapes are those of real runs of 0.2.1-rc.2."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
import zstandard
from tests.hosts.conformance import CWD, STARTED, TURNS, HostConformance
from tests.install.standing import Home

from lamina.formats.event import CHILD_MARK, Author, Event, Kind, Session
from lamina.hosts.base import Host, detect, live_named
from lamina.hosts.dsh import HOST
from lamina.hosts.dsh_setup import PACKAGE, PROFILES
from lamina.hosts.render import Said, Turn, render_dsh, session_uuid
from lamina.hosts.setup import Edit, OwnFile, Say, Where, YamlItem
from lamina.live.call import Place
from lamina.live.fast import NOTE, answer
from lamina.memory import Memory

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


HEADER = {"type": "session", "version": 4, "id": SID, "createdAt": 1772442000000, "cwd": CWD}


def record(number: int, kind: str, data: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, "seq": number, "time": 1772442000000 + number * 1000, "data": data, **more}


def message(text: str, kind: str = "user", **source: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"content": content, "source": {"kind": kind, **source}, "role": "user", "id": session_uuid(text)}


def read(folder: Path, records: list[dict[str, Any]], **header: Any) -> list[Event]:
    path = folder / "session.v4.jsonl"
    lines = [{**HEADER, "isSeeded": False, "delegationDepth": 0, **header}, *records]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    assert detect(path) is HOST
    return [item for item in HOST.read(path) if isinstance(item, Event)]


def session(folder: Path) -> Session:
    return HOST.read(folder / "session.v4.jsonl").session


def person(events: list[Event]) -> list[str]:
    return [each.text for each in events if each.author == Author.PERSON]


# --- transcripts


@pytest.mark.parametrize(
    ("source", "typed"),
    [
        ({"kind": "user"}, True),
        ({"kind": "user", "rpcId": "r-1", "clientTimeZone": "Asia/Tokyo"}, True),
        ({"kind": "agent-instructions", "form": "instructions"}, False),
        ({"kind": "runtime-context", "form": "snapshot"}, False),
        ({"kind": "subagent-settled"}, False),
        ({"kind": "goal"}, False),
        ({"kind": "lamina", "form": "recall"}, False),
        ({}, False),
        ({"kind": ["user"]}, False),
        ("user", False),
        (None, False),
    ],
)
def test_who_sent_a_message(tmp_path: Path, source: Any, *, typed: bool) -> None:
    data = {**message("Go on."), "source": source}
    (found,) = read(tmp_path, [record(0, "user/message", data, surfaceOp="append")])
    assert (found.kind == Kind.USER, found.author == Author.PERSON) == (typed, typed)
    assert found.text == "Go on."


def test_reasoning_is_never_read(tmp_path: Path) -> None:
    content = [{"type": "reasoning", "text": "SECRETLY"}, {"type": "text", "text": "Done."}]
    chunks = [{"type": "chunk", "chunk": {"type": "block-end", "block": content[0]}}]
    data = {"message": {"role": "assistant", "content": content, "id": "m"}, "stream": chunks}
    only = {"message": {"role": "assistant", "content": content[:1], "id": "n"}}
    events = read(
        tmp_path,
        [
            record(0, "assistant/message", data),
            record(1, "assistant/message", only),
            record(2, "assistant/attempt", data),
        ],
    )
    assert [each.text for each in events] == ["Done."]


@pytest.mark.parametrize(
    ("text", "error", "told", "failed"),
    [
        ("fine", False, "fine", False),
        ("no such file\n[exit code: 2]", False, "no such file", True),
        ("fine\n[exit code: 0]", False, "fine", False),
        ("[exit code: 1]", False, "", True),
        ("it said [exit code: 1] in the middle", False, "it said [exit code: 1] in the middle", False),
        ("Error: refused", True, "Error: refused", True),
    ],
)
def test_what_failed(tmp_path: Path, text: str, error: bool, told: str, failed: bool) -> None:
    call = {"callId": "c", "name": "bash", "arguments": '{"command":"make"}'}
    result = {"role": "tool", "toolCallId": "c", "content": [{"type": "text", "text": text}]}
    done = {"message": {**result, "isError": error}}
    asked, answered = read(tmp_path, [record(0, "tool/call", call), record(1, "tool/result", done)])
    assert (asked.tool, asked.text) == ("bash", "make")
    assert (answered.tool, answered.text, answered.failed) == ("bash", told, failed)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ({}, ("", False, False)),
        ({"parentSession": "p", "origin": "subagent", "delegationDepth": 1}, ("p", True, False)),
        ({"delegationDepth": 2}, ("", True, False)),
        ({"origin": "subagent"}, ("", True, False)),
        ({"parentSession": "p"}, ("p", True, False)),
        ({"parentSession": "p", "isSeeded": True}, ("p", False, True)),
        ({"parentSession": "p", "isSeeded": True, "origin": "subagent"}, ("p", True, False)),
        ({"parentSession": "p", "isSeeded": True, "delegationDepth": 1}, ("p", True, False)),
        ({"delegationDepth": "deep", "parentSession": 7}, ("", False, False)),
    ],
)
def test_what_is_a_subagent_and_what_a_fork(tmp_path: Path, header: Any, expected: Any) -> None:
    events = read(tmp_path, [record(0, "user/message", message("Look at it."))], **header)
    found = session(tmp_path)
    assert (found.parent, found.subagent, found.fork) == expected
    assert person(events) == ([] if expected[1] else ["Look at it."])
    assert [each.sidechain for each in events] == [expected[1]]


def test_a_compactions_summary_is_told_once(tmp_path: Path) -> None:
    source = {"kind": "compact-checkpoint"}
    checkpoint = {**message("This condenses: tabs."), "source": source}
    span = {"op": "replace", "startSeq": 0, "endSeq": 3}
    events = read(
        tmp_path,
        [
            record(0, "compaction/start", {"compactionId": "x", "turn": None}),
            record(
                1, "compaction/summary", {"compactionId": "x", "summary": [{"type": "text", "text": "tabs."}]}
            ),
            record(2, "user/message", checkpoint, surfaceOp=span),
            record(3, "compaction/end", {"compactionId": "x", "turn": None}),
        ],
    )
    assert [(each.kind, each.author, each.text) for each in events] == [
        (Kind.COMPACTION, Author.HOST, "tabs.")
    ]


def test_the_newest_title_counts(tmp_path: Path) -> None:
    titles = [
        record(number, "session/title", {"title": text}) for number, text in enumerate(["Fix", "Fix it"])
    ]
    read(tmp_path, [*titles, record(2, "session/title", {"title": None})])
    transcript = HOST.read(tmp_path / "session.v4.jsonl")
    assert list(transcript) == []
    assert transcript.session.title == "Fix it"


def test_where_transcripts_lie(tmp_path: Path) -> None:
    root = tmp_path / "dsh" / "sessions" / "--home-mira--"
    wanted = [root / "a" / "session.v12.jsonl.zstd", root / "b" / "session.jsonl"]
    others = [
        "a/session.v4.jsonl.zstd",
        "a/session.jsonl",
        "a/session.lock",
        "c/other.jsonl",
        "session.jsonl.tmp",
    ]
    for path in [*wanted, *(root / name for name in others)]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert list(HOST.transcripts(tmp_path, {"DSH_HOME": str(tmp_path / "dsh")})) == wanted


def test_packed_transcripts_are_read_like_plain_ones(tmp_path: Path) -> None:
    text = render_dsh(SID, TURNS, cwd=CWD, started=STARTED)
    plain, packed = tmp_path / "session.v4.jsonl", tmp_path / "session.v4.jsonl.zstd"
    plain.write_text(text, encoding="utf-8")
    frame = zstandard.ZstdCompressor(write_checksum=True).compress
    frames = [frame(line.encode()) for line in text.splitlines(keepends=True)]
    packed.write_bytes(b"".join(frames))
    whole = list(HOST.read(plain))
    assert detect(packed) is HOST
    assert list(HOST.read(packed)) == whole
    assert replace(HOST.read(packed).session, path="") == replace(HOST.read(plain).session, path="")
    found: list[Any] = []
    position = None
    for size in [*range(0, len(b"".join(frames)), 97), len(b"".join(frames))]:
        packed.write_bytes(b"".join(frames)[:size])
        transcript = HOST.read(packed, position)
        found.extend(transcript)
        position = transcript.position
    assert found == whole


def test_a_run_that_lamina_started_is_never_captured(tmp_path: Path) -> None:
    path = tmp_path / "session.v4.jsonl"
    turns = [Said("user", f"{CHILD_MARK}\n\nWe decided to use tabs."), Said("assistant", "We use tabs.")]
    path.write_text(render_dsh(SID, turns, cwd=CWD, started=STARTED), encoding="utf-8")
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    now = datetime(2026, 3, 3, tzinfo=UTC)
    with Memory.open(tmp_path / "store", cwd=tmp_path, env=env, clock=lambda: now) as memory:
        assert memory.capture(path, final=True)["status"] == "own"


# --- hooks


def said(tmp_path: Path, name: str, *, depth: int = 0, **payload: Any) -> str:
    place = Place(str(tmp_path / "state"), {"dsh": HOST.hooks.literal()}, ["/bin/false"])
    body = {
        "session_id": SID,
        "cwd": CWD,
        "transcript_path": "/x/session.v4.jsonl",
        "depth": depth,
        **payload,
    }
    return answer(place, "dsh", name, {}, json.dumps(body).encode())


def test_a_subagent_is_kept_from_writing_and_the_main_agent_is_not(tmp_path: Path) -> None:
    call = {"tool_name": "mcp__lamina__memory_remember", "tool_input": {"text": "x"}}
    told = json.loads(said(tmp_path, "tool", depth=1, **call))
    assert told["permissionDecision"] == "deny"
    assert told["permissionDecisionReason"]
    assert said(tmp_path, "tool", **call) == ""
    assert said(tmp_path, "tool", depth=1, tool_name="mcp__lamina__memory_search", tool_input={}) == ""


def test_a_subagent_is_told_and_its_turns_are_not_the_sessions(tmp_path: Path) -> None:
    assert json.loads(said(tmp_path, "subagent", depth=1)) == {"additionalContext": NOTE}
    for name in ("prompt", "turn", "end", "compact"):
        assert said(tmp_path, name, depth=1, prompt="Find the callers.") == ""
    assert not (tmp_path / "state" / "spool.jsonl").exists()


# --- setup


def where(tmp_path: Path, **fields: Any) -> Where:
    store = tmp_path / "o'neil store" / "state"
    found: dict[str, Any] = {"home": tmp_path, "env": {}, "hook": store / "bin" / "hook"}
    found |= {"program": store / "bin" / "lamina", "assets": store / "hosts" / "dsh"}
    return Where(**(found | fields))


def items(edits: list[Edit], profile: str) -> list[YamlItem]:
    return [edit for edit in edits if isinstance(edit, YamlItem) and edit.file.parent.name == profile]


def test_setup_writes_the_package_and_two_entries_in_each_profile(tmp_path: Path) -> None:
    for name in ("headless", "my own"):
        (tmp_path / ".dsh" / "profiles" / name).mkdir(parents=True)
    place = where(tmp_path)
    edits = HOST.setup(place)
    assert live_named("dsh") is HOST
    assert {
        edit.file.relative_to(place.assets).as_posix() for edit in edits if isinstance(edit, OwnFile)
    } == set(PACKAGE)
    assert {edit.file.parent.name for edit in edits if isinstance(edit, YamlItem)} == {"headless", "my own"}
    plugin, server = items(edits, "my own")
    assert plugin.file == tmp_path / ".dsh" / "profiles" / "my own" / "cordis.patch.yml"
    assert plugin.value == {
        "insert": [
            {
                "id": "lamina",
                "name": str(place.assets / "src" / "index.js"),
                "config": {"hook": str(place.hook)},
            }
        ]
    }
    assert server.value["insert"][0]["config"] == {
        "serverName": "lamina",
        "transport": "stdio",
        "command": str(place.program),
        "args": ["mcp"],
    }
    assert [plugin.id, server.id] == [plugin.value["insert"][0]["id"], server.value["insert"][0]["id"]]
    assert HOST.setup(place) == edits


def test_setup_without_a_profile_is_for_those_that_the_host_makes(tmp_path: Path) -> None:
    edits = HOST.setup(where(tmp_path, env={"DSH_HOME": str(tmp_path / "d")}))
    found = [edit.file for edit in edits if isinstance(edit, YamlItem)]
    assert set(found) == {tmp_path / "d" / "profiles" / name / "cordis.patch.yml" for name in PROFILES}


def test_recall_is_asked_before_every_tool_only_if_it_is_wanted(tmp_path: Path) -> None:
    plugin, _ = items(HOST.setup(where(tmp_path, recall=True)), "web")
    assert plugin.value["insert"][0]["config"]["recall"] is True


def test_setup_for_a_project_says_that_it_is_for_all(tmp_path: Path) -> None:
    edits = HOST.setup(where(tmp_path, project=tmp_path / "tidepool"))
    assert any("every project" in edit.text for edit in edits if isinstance(edit, Say))
    assert not any("tidepool" in str(edit.file) for edit in edits if not isinstance(edit, Say))


def test_it_is_there_by_its_folder_or_its_program(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "dsh"
    assert not HOST.present(tmp_path, {"PATH": str(program.parent)})
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert HOST.present(tmp_path, {"PATH": str(program.parent)})
    (tmp_path / ".dsh").mkdir()
    assert HOST.present(tmp_path, {"PATH": ""})


def test_the_plugin_tells_of_every_event_that_the_dialect_knows() -> None:
    text = (files("lamina.hosts") / "assets" / "dsh" / "src" / "index.js").read_text("utf-8")
    for name in HOST.hooks.events:
        assert f"'{name}'" in text, name
    assert "['dsh', event]" in text


def test_install_and_uninstall_give_back_every_byte(tmp_path: Path) -> None:
    home = Home(tmp_path / "First Last's 家")
    home.write(
        ".dsh/profiles/headless/cordis.patch.yml", "# mine\n- id: agent-default-model\n  config: {model: x}\n"
    )
    home.write(".dsh/profiles/web/cordis.patch.yml", "# Your patch layer\n[]\n")
    home.write(".dsh/profiles/empty/package.json", "{}")
    before = home.snapshot()
    home.install("dsh")
    patch = yaml.safe_load((home.path / ".dsh/profiles/headless/cordis.patch.yml").read_text("utf-8"))
    assert [item["insert"][0]["id"] for item in patch[1:]] == ["lamina", "lamina-mcp"]
    installed = home.snapshot()
    home.install("dsh")
    assert home.snapshot() == installed
    home.uninstall("dsh")
    assert home.snapshot() == before
