"""TOML files that people write by hand: read as far as possible, with every fault told as `file:line`."""

from __future__ import annotations

import os
import re
from pathlib import Path

from lamina import errors
from lamina.formats.frozen import NamedTuple
from lamina.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_BYTES = 1_048_576


class TomlFile(NamedTuple):
    """What a file says. `whole` False: it is damaged, and `values` is only what could be saved of it."""

    text: str
    values: dict[str, Any]
    warnings: tuple[str, ...] = ()
    whole: bool = True


def load(path: Path) -> TomlFile | None:
    """Read a file through the links that a person may have made to it; None if it is not there."""
    real = Path(os.path.realpath(path))
    if not os.path.isfile(real):  # noqa: PTH113 - answers False where pathlib raises
        return None
    try:
        data = files.read_bytes(real)
        text = data.decode("utf-8-sig")
    except errors.LaminaError as problem:
        return TomlFile("", {}, (problem.message,), whole=False)
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        return TomlFile("", {}, (f"{path}:{line}: not UTF-8, so nothing of it is used",), whole=False)
    if len(data) > _MAX_BYTES:
        return TomlFile("", {}, (f"{path}:1: larger than 1 MiB, so nothing of it is used",), whole=False)
    return parse(text, str(path))


def parse(text: str, name: str) -> TomlFile:
    """Read TOML; of a damaged text the settings that stand on lines of their own are saved.

    A slip in one line must not publish a folder that another line excludes.
    """
    import tomllib

    try:
        return TomlFile(text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as problem:
        place = re.search(r"at line (\d+)", str(problem))
        line = place[1] if place else str(text.count("\n") + 1)
        reason = str(problem).partition(" (at ")[0]
        told = f"{name}:{line}: not TOML: {reason}; only the plain lines that can be read count"
        return TomlFile(text, _salvaged(text), (told,), whole=False)
    except RecursionError:
        return TomlFile(text, {}, (f"{name}:1: nested too deep, so nothing of it is used",), whole=False)


def line_of(text: str, key: str) -> int:
    """Return the line that sets a key, 1 if it can't be told."""
    name = re.escape(key)
    found = re.search(rf"(?m)^[ \t]*(?:[\"']?{name}[\"']?[ \t]*[=.]|\[+[ \t]*{name}\b)", text)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def _salvaged(text: str) -> dict[str, Any]:
    import tomllib

    saved: dict[str, Any] = {}
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            break
        try:
            saved |= tomllib.loads(line)
        except tomllib.TOMLDecodeError:
            continue
    return saved
