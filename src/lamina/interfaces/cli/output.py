"""What the command line prints: results on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TextIO

    from lamina.errors import LaminaError

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
WARNING = "warning: "
TURNS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""What turns the direction of the text behind it, so that a line reads as another one."""
CONTROL = {code: None for code in (*range(32), *range(127, 160), *TURNS) if code not in (9, 10)}
"""What would move the cursor or change the terminal; remembered text may hold it."""


class Unprintable(Exception):
    """The result can't be written: the disk behind stdout is full, say."""


class Output:
    """Writes results, notes, progress and failures, as text or as JSON."""

    def __init__(
        self, *, json: bool = False, stdout: TextIO | None = None, stderr: TextIO | None = None
    ) -> None:
        self.json = json
        self.stdout = stdout or sys.stdout or _nowhere()
        self.stderr = stderr or sys.stderr or _nowhere()
        for stream in (self.stdout, self.stderr):
            if hasattr(stream, "reconfigure"):
                # UTF-8 whatever the locale; bytes that came in as surrogates must not end the command.
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        able = os.environ.get("TERM") != "dumb"  # a terminal that shows escape sequences as they are
        self.colour = able and not json and self.stdout.isatty() and not os.environ.get("NO_COLOR")
        self.live = able and self.stderr.isatty()
        self._waiting: list[str] = []

    def text(self, text: str) -> None:
        """Print `text` on stdout, unless JSON was asked for."""
        if not self.json:
            self._print(text)

    def beside(self, text: str) -> None:
        """Tell the person something with the result; where the command fails, the failure comes alone."""
        self._waiting.append(text)

    def warn(self, text: str) -> None:
        """Warn the person, with the result or before a failure that speaks of something else."""
        self._waiting.append(f"{WARNING}{text}")

    def document(self, text: str) -> None:
        """Print a text as it is: exactly for another program or a file, harmlessly for a terminal."""
        self._tell_waiting()
        self._print(plain(text) if self.stdout.isatty() else text)

    def result(self, value: Mapping[str, Any], text: str = "") -> None:
        """Print the command's one result: `value` with --json, else `text` (nothing when empty)."""
        self._tell_waiting()
        if self.json:
            self.line(value)
        elif text:
            self._print(styled(text) if self.colour else plain(text))

    def line(self, value: Mapping[str, Any]) -> None:
        """Print one JSON object on one line."""
        from json import dumps

        self._print(dumps(value, ensure_ascii=False))
        self.flush()

    def note(self, text: str) -> None:
        """Tell the person something beside the result."""
        self.stderr.write(plain(text) + "\n")

    def progress(self, text: str) -> None:
        """Show `text` on one line that the next call overwrites; nothing when not on a terminal."""
        if self.live:
            self.stderr.write("\r\x1b[K" + plain(text)[: _columns() - 1])
            self.stderr.flush()

    def settle(self) -> None:
        """End the progress line."""
        if self.live:
            self.stderr.write("\r\x1b[K")
            self.stderr.flush()

    def failure(self, problem: LaminaError) -> None:
        """Print a failure: an error object with --json, else one message and its hint."""
        for note in self._waiting:
            if note.startswith(WARNING) and note.removeprefix(WARNING).split(":")[0] not in problem.message:
                self.note(note)
        choices = getattr(problem, "choices", ())
        if self.json:
            error = {"kind": problem.kind, "message": problem.message, "hint": problem.hint}
            self.line({"error": error | ({"choices": list(choices)} if choices else {})})
            return
        self.note(f"lamina: {problem.message}")
        if problem.hint:
            self.note(f"  {problem.hint}")
        for choice in choices:
            self.note(f"  - {choice}")

    def style(self, text: str, name: str) -> str:
        """Return `text` in a style on a colour terminal, else as it is."""
        return f"\x1b[{STYLES[name]}m{plain(text)}\x1b[0m" if self.colour else text

    def flush(self) -> None:
        """Hand on what is still waiting; a reader that went away shows here."""
        try:
            self.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as problem:
            raise Unprintable(problem.strerror or str(problem)) from problem

    def _tell_waiting(self) -> None:
        while self._waiting:
            self.note(self._waiting.pop(0))

    def _print(self, text: str) -> None:
        try:
            self.stdout.write(text + "\n")
        except BrokenPipeError:
            raise
        except OSError as problem:
            raise Unprintable(problem.strerror or str(problem)) from problem

    def abandon(self) -> None:
        """Let the rest go nowhere, so that closing at the end of the process does not fail once more."""
        handle = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(handle, self.stdout.fileno())
        except OSError:
            return  # not a file of the system: nothing fails later
        finally:
            os.close(handle)


def plain(text: str) -> str:
    """Return text without control characters but tabs and line ends."""
    return text.translate(CONTROL)


def styled(text: str) -> str:
    """Return text in which no escape sequence is left but our styles."""
    import re

    return re.sub(
        r"\x1b(?!\[\d{1,2}m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text
    )


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - lives as long as the process
