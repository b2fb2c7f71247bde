"""Lets a person change a text in an editor of their own."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from pathlib import Path

from lamina.errors import BadInput, Refused, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

HINT = "name one: export EDITOR=nano; or give the new text with --text"


def edited(text: str, *, env: Mapping[str, str]) -> str:
    """Return what the person made of a text; it stands in a file that only they can read while they do.

    Raises UsageError where there is no editor, Refused if it ends with a failure, BadInput for no text.
    """
    words = _editor(env)
    with tempfile.TemporaryDirectory(prefix="lamina-review-") as folder:
        file = Path(folder, "candidate.md")
        file.write_text(text, encoding="utf-8", newline="")
        # A fixed program without a shell, in the foreground: it needs this terminal.
        code = os.spawnv(os.P_WAIT, words[0], [*words, str(file)])  # noqa: S606
        if code != 0:
            raise Refused(f"the editor {words[0]} ended with {code}; nothing was changed", HINT)
        try:
            return file.read_bytes().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as problem:
            raise BadInput(f"what the editor left can't be read ({problem})", "save it as UTF-8") from None


def _editor(env: Mapping[str, str]) -> list[str]:
    """Return the editor that the person named, as words; the first is a program that is there."""
    said = env.get("VISUAL") or env.get("EDITOR") or ""
    try:
        words = shlex.split(said)
    except ValueError:
        words = []
    if not words:
        raise UsageError("no editor is named", HINT)
    program = shutil.which(words[0], path=env.get("PATH"))
    if program is None:
        raise UsageError(f"there is no editor {words[0]!r}", HINT)
    return [program, *words[1:]]
