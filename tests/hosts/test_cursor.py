"""Cursor's hooks and settings, as its documentation tells them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from lamina.hosts.base import host_named, live_named
from lamina.hosts.cursor import HOST
from lamina.hosts.setup import JsonItem, JsonMember, Say, Where
from lamina.live.call import Place
from lamina.live.fast import answer

EMAIL = "mira" + "@" + "example.org"


def payload(name: str, folder: Path, **fields: Any) -> bytes:
    body = {
        "conversation_id": "9f0c7f6e-0000-4000-8000-000000000001",
        "generation_id": "gen-1",
        "model": "gpt-5",
        "hook_event_name": name,
        "cursor_version": "3.18.25",
        "workspace_roots": [str(folder)],
        "user_email": EMAIL,
        "transcript_path": f"/home/{EMAIL}/transcripts/x.jsonl",
    }
    return json.dumps(body | fields).encode()


def where(tmp_path: Path, **fields: Any) -> Where:
    store = tmp_path / "o'neil store" / "state"
    found: dict[str, Any] = {"home": tmp_path, "env": {}, "hook": store / "bin" / "hook"}
    found |= {"program": store / "bin" / "lamina", "assets": store / "hosts" / "cursor"}
    return Where(**(found | fields))


def test_it_can_be_installed_into_but_keeps_no_transcripts() -> None:
    assert live_named("cursor") is HOST
    assert host_named("cursor") is None


def test_setup_says_that_it_is_experimental(tmp_path: Path) -> None:
    edits = HOST.setup(where(tmp_path))
    said = " ".join(edit.text for edit in edits if isinstance(edit, Say))
    assert "experimental" in said
    assert "not captured" in said


def test_setup_for_the_user_and_for_a_project(tmp_path: Path) -> None:
    project = tmp_path / "tidepool"
    for base, fields in ((tmp_path, {}), (project, {"project": project})):
        edits = HOST.setup(where(tmp_path, **fields))
        items = [edit for edit in edits if isinstance(edit, JsonItem)]
        assert {edit.file for edit in items} == {base / ".cursor" / "hooks.json"}
        assert {edit.at for edit in items} == {("hooks", event) for event in HOST.hooks.events}
        members = {(edit.file.name, edit.at): edit.value for edit in edits if isinstance(edit, JsonMember)}
        program = str(tmp_path / "o'neil store" / "state" / "bin" / "lamina")
        assert members == {
            ("hooks.json", ("version",)): 1,
            ("mcp.json", ("mcpServers", "lamina")): {"command": program, "args": ["mcp"]},
        }


def test_hooks_pass_when_lamina_is_gone(tmp_path: Path) -> None:
    for edit in HOST.setup(where(tmp_path)):
        if isinstance(edit, JsonItem):
            command = ["sh", "-c", edit.value["command"]]
            assert subprocess.run(command, input=b"{}", capture_output=True, check=True).stdout == b""


def test_the_persons_address_is_never_kept(tmp_path: Path) -> None:
    state = tmp_path / "state"
    place = Place(str(state), {"cursor": HOST.hooks.literal()}, ["/bin/false"])
    for event in HOST.hooks.events:
        assert EMAIL not in answer(
            place, "cursor", event, {}, payload(event, tmp_path, prompt="Add a retry.")
        )
    written = [path for path in state.rglob("*") if path.is_file()]
    assert written
    assert not any(EMAIL.encode() in path.read_bytes() for path in written)
    (line,) = (state / "spool.jsonl").read_text().splitlines()
    told = json.loads(line)
    assert (told["host"], told["event"], told["cwd"], told["transcript"]) == (
        "cursor",
        "start",
        str(tmp_path),
        "",
    )


def test_present_by_folder_or_by_program(tmp_path: Path) -> None:
    assert not HOST.present(tmp_path, {"PATH": str(tmp_path)})
    program = tmp_path / "cursor-agent"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert HOST.present(tmp_path, {"PATH": str(tmp_path)})
    (tmp_path / ".cursor").mkdir()
    assert HOST.present(tmp_path, {})
