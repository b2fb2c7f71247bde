"""Deciding at a terminal: the person's own editor, and a question before all at once."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

SECONDS = 60


class Ended:
    """What a command on a terminal showed, and how it ended."""

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        self.text = text


def on_terminal(lamina, *arguments: str, answer: str = "", env: dict[str, str] | None = None) -> Ended:
    """Run a command on a terminal of its own, answering its question."""
    given = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TERM": "xterm", **(env or {})}
    terminal, other = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "lamina", *arguments],
        cwd=lamina.project, env=given, stdin=other, stdout=other, stderr=other, start_new_session=True,
    )  # fmt: skip
    os.close(other)
    seen = b""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and (piece := _read(terminal)) is not None:
        seen += piece
        if answer and b"[y/N]" in seen:
            os.write(terminal, f"{answer}\n".encode())
            answer = ""
    if time.monotonic() >= until:
        running.kill()
    code = running.wait(timeout=SECONDS)
    os.close(terminal)
    return Ended(code, seen.decode().replace("\r\n", "\n"))


def _read(terminal: int) -> bytes | None:
    """Read what is there by now; None once the other side is closed."""
    if not select.select([terminal], [], [], 0.2)[0]:
        return b""
    try:
        return os.read(terminal, 65536) or None
    except OSError:  # how Linux tells the end
        return None


def editor(lamina, script: str) -> dict[str, str]:
    """Make an editor that changes the file it is given by Python; its words have a blank, as people's do."""
    file = lamina.tmp_path / "my editor.py"
    file.write_text(f"import os, pathlib, sys\nf = pathlib.Path(sys.argv[-1])\n{script}\n", encoding="utf-8")
    return {"EDITOR": f'{sys.executable} "{file}" --wait', "VISUAL": ""}


@pytest.fixture
def candidate(lamina) -> str:
    id_ = lamina("remember", "Boats moor on the left", "--topic", "Boats", "--json").json["id"]
    assert lamina("edit", id_, "--trust", "candidate").code == 0
    return id_


def test_the_editor_shows_heading_and_text_and_both_are_taken(lamina, candidate):
    change = 'f.write_text(f.read_text().replace("left", "right 右 ⚓"), encoding="utf-8")'
    ended = on_terminal(lamina, "review", "edit", candidate, env=editor(lamina, change))
    assert (ended.code, "edited harbor-sem-0001" in ended.text) == (0, True), ended.text
    shown = lamina("show", candidate, "--json").json
    assert (shown["heading"], shown["trust"]) == ("Boats moor on the right 右 ⚓", "approved")
    assert shown["body"] == "Boats moor on the right 右 ⚓"


@pytest.mark.parametrize(
    ("script", "code", "told"),
    [
        ("", 3, "nothing was changed"),
        ("sys.exit(1)", 3, "ended with 1"),
        ("f.unlink()", 2, "can't be read"),
        ("f.write_bytes(b'\\xff\\xfe\\xfa')", 2, "can't be read"),
        ("f.write_text('')", 2, "empty"),
        ("f.write_text('## Boats moor\\n\\n')", 2, "empty"),
    ],
)
def test_an_editor_that_is_left_or_fails_changes_nothing(lamina, candidate, script, code, told):
    before = lamina("show", candidate, "--json").json
    ended = on_terminal(lamina, "review", "edit", candidate, env=editor(lamina, script))
    assert (ended.code, told in ended.text) == (code, True), ended.text
    assert lamina("show", candidate, "--json").json == before


def test_what_changed_while_the_editor_was_open_is_kept(lamina, candidate):
    file = lamina.root / lamina("show", candidate, "--json").json["file"]
    script = (
        f"g = pathlib.Path({str(file)!r})\n"
        "g.write_text(g.read_text().replace('\\nBoats moor on the left', '\\nBoats moor in the middle'))\n"
        "f.write_text('## Boats\\n\\nBoats moor nowhere\\n')"
    )
    ended = on_terminal(lamina, "review", "edit", candidate, env=editor(lamina, script))
    assert (ended.code, "was changed meanwhile" in ended.text) == (3, True), ended.text
    shown = lamina("show", candidate, "--json").json
    assert (shown["body"], shown["trust"]) == ("Boats moor in the middle", "candidate")


@pytest.mark.parametrize("named", ["", "no-such-editor", '"unclosed'])
def test_without_an_editor_the_way_is_told(lamina, candidate, named):
    ended = on_terminal(lamina, "review", "edit", candidate, env={"EDITOR": named, "VISUAL": ""})
    assert (ended.code, "--text" in ended.text) == (2, True), ended.text


def test_only_the_person_can_read_what_is_being_edited(lamina, candidate):
    seen = lamina.tmp_path / "mode"
    script = f"pathlib.Path({str(seen)!r}).write_text(oct(f.parent.stat().st_mode & 0o777) + ' ' + str(f))"
    on_terminal(lamina, "review", "edit", candidate, env=editor(lamina, script))
    mode, _, file = seen.read_text().partition(" ")
    assert mode == "0o700"
    assert not Path(file).exists()


@pytest.mark.parametrize(
    ("answer", "code", "trust"), [("y", 0, "approved"), ("n", 3, "candidate"), (" ", 3, "candidate")]
)
def test_all_at_once_is_asked_for_on_a_terminal(lamina, candidate, answer, code, trust):
    ended = on_terminal(lamina, "review", "approve", "--all", answer=answer)
    assert (ended.code, "approve 1 candidate? [y/N]" in ended.text) == (code, True), ended.text
    assert lamina("show", candidate, "--json").json["trust"] == trust


def test_all_at_once_is_refused_to_a_program(lamina, candidate):
    refused = lamina.process("review", "approve", "--all", "--json")
    assert (refused.code, refused.json["error"]["kind"]) == (3, "refused")
    planned = lamina.process("review", "approve", "--all", "--json", "--dry-run")
    assert (planned.code, planned.json["entries"][0]["id"]) == (0, candidate)
    assert lamina("show", candidate, "--json").json["trust"] == "candidate"


def test_ids_come_from_standard_input_too(lamina, candidate):
    done = lamina.process("review", "approve", "-", stdin=f"{candidate}\n".encode())
    assert (done.code, done.out) == (0, f"approved {candidate}  Boats moor on the left\n")


def test_text_from_a_model_can_not_move_the_terminal(lamina, candidate):
    lamina("edit", candidate, "--heading", "Boats \x1b[2J\x1b]0;owned\x07 moor", "--trust", "candidate")
    for asked in (("review",), ("review", "show", candidate)):
        assert "\x1b" not in lamina(*asked).out
        assert "\x1b[2J" not in on_terminal(lamina, *asked).text
