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


class Output:
    """Writes results, notes, progress and failures, as text or as JSON."""

    def __init__(
        self, *, json: bool = False, stdout: TextIO | None = None, stderr: TextIO | None = None
    ) -> None:
        self.json = json
        self.stdout = stdout or sys.stdout
        self.stderr = stderr or sys.stderr
        for stream in (self.stdout, self.stderr):
            if hasattr(stream, "reconfigure"):
                # UTF-8 whatever the locale; bytes that came in as surrogates must not end the command.
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        self.colour = not json and self.stdout.isatty() and not os.environ.get("NO_COLOR")
        self.live = self.stderr.isatty()

    def text(self, text: str) -> None:
        """Print `text` on stdout, unless JSON was asked for."""
        if not self.json:
            self.stdout.write(text + "\n")

    def result(self, value: Mapping[str, Any], text: str = "") -> None:
        """Print the command's one result: `value` with --json, else `text` (nothing when empty)."""
        if self.json:
            self.line(value)
        elif text:
            self.stdout.write(text + "\n")

    def line(self, value: Mapping[str, Any]) -> None:
        """Print one JSON object on one line."""
        from json import dumps

        self.stdout.write(dumps(value, ensure_ascii=False) + "\n")
        self.stdout.flush()

    def note(self, text: str) -> None:
        """Tell the person something beside the result."""
        self.stderr.write(text + "\n")

    def progress(self, text: str) -> None:
        """Show `text` on one line that the next call overwrites; nothing when not on a terminal."""
        if self.live:
            self.stderr.write("\r\x1b[K" + text)
            self.stderr.flush()

    def settle(self) -> None:
        """End the progress line."""
        if self.live:
            self.stderr.write("\r\x1b[K")
            self.stderr.flush()

    def failure(self, problem: LaminaError) -> None:
        """Print a failure: an error object with --json, else one message and its hint."""
        if self.json:
            error = {"kind": problem.kind, "message": problem.message, "hint": problem.hint}
            self.line({"error": error})
            return
        self.stderr.write(f"lamina: {problem.message}\n")
        if problem.hint:
            self.stderr.write(f"  {problem.hint}\n")

    def style(self, text: str, name: str) -> str:
        """Return `text` in a style on a colour terminal, else as it is."""
        return f"\x1b[{STYLES[name]}m{text}\x1b[0m" if self.colour else text
