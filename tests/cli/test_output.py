"""What reaches a terminal, and what reaches a pipe."""

from __future__ import annotations

import io

import pytest

from lamina.errors import NoEntry
from lamina.interfaces.cli.gather import counted, summed_up, teller
from lamina.interfaces.cli.output import Output, Unprintable, plain, styled


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_shows_on_a_terminal_only():
    steps = [
        {"number": n, "of": 4, "host": "codex", "session": "4f3a1b2c-9", "status": "captured"} for n in (1, 4)
    ]
    screen, pipe = Terminal(), io.StringIO()
    for stream in (screen, pipe):
        out = Output(stdout=io.StringIO(), stderr=stream)
        for step in steps:
            teller(out)(step)
        out.settle()
    assert pipe.getvalue() == ""
    assert "█████··············· 1/4  codex 4f3a1b2c  captured" in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[K")
    assert "\n" not in screen.getvalue()


def test_styles_stand_on_a_terminal_only_and_nothing_else_that_moves_it(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen = Terminal()
    out = Output(stdout=screen, stderr=io.StringIO())
    out.result({}, out.style("bold \x1b[2J", "bold") + " and \x1b]0;title\x07\x1b[31mred")
    assert screen.getvalue() == "\x1b[1mbold [2J\x1b[0m and ]0;title\x1b[31mred\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert not Output(stdout=Terminal(), stderr=io.StringIO()).colour
    assert plain("a\tb\nc\x00\x9b") == "a\tb\nc"
    assert styled("\x1b[1mx\x1b[0m") == "\x1b[1mx\x1b[0m"


def test_a_dumb_terminal_gets_neither_styles_nor_a_line_that_is_overwritten(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "dumb")
    screen, err = Terminal(), Terminal()
    out = Output(stdout=screen, stderr=err)
    out.progress("1/4")
    out.settle()
    out.result({}, out.style("bold", "bold"))
    assert (screen.getvalue(), err.getvalue()) == ("bold\n", "")


def test_remembered_text_does_not_turn_the_direction_of_a_line(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    said = "user \u202e\u2066evil\u2069\u202c \u05e9\u05dc\u05d5\u05dd\u200f"
    for text in (plain(said), styled(said)):
        assert text == "user evil \u05e9\u05dc\u05d5\u05dd\u200f"


def test_a_document_is_exact_in_a_pipe_and_harmless_on_a_terminal():
    for stream, said in ((io.StringIO(), "a\x1b[2Jb\n"), (Terminal(), "a[2Jb\n")):
        Output(stdout=stream, stderr=io.StringIO()).document("a\x1b[2Jb")
        assert stream.getvalue() == said


def test_what_is_said_beside_a_result_does_not_stand_beside_a_failure():
    err = io.StringIO()
    out = Output(stdout=io.StringIO(), stderr=err)
    out.beside("there is no store")
    out.warn("/x/config.toml: no setting is called 'y'")
    out.warn("/x/memory.json:1: not JSON")
    out.failure(NoEntry("/x/memory.json:1 is damaged", "repair it"))
    assert err.getvalue() == (
        "warning: /x/config.toml: no setting is called 'y'\nlamina: /x/memory.json:1 is damaged\n  repair it\n"
    )


def test_a_write_that_fails_is_told_apart_from_a_reader_that_left():
    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    for stream, kind in ((Full(), Unprintable), (Gone(), BrokenPipeError)):
        with pytest.raises(kind):
            Output(stdout=stream, stderr=io.StringIO()).text("x")


def test_sums_are_told_in_words():
    summary = {"sessions": 1, "events": 9, "notes": 2, "entries": 1, "skipped": {"known": 3, "thin": 0}}
    assert summed_up(summary, "/s", dry_run=False).splitlines() == [
        "read 1 session (9 events)",
        "wrote 2 notes and 1 memory to /s",
        "skipped: 3 known",
        "next: `lamina list`, `lamina search WORDS`, `lamina why ID`",
    ]
    assert counted(0, "session") == "0 sessions"
