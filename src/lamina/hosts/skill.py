"""The skills that tell an agent how to use Lamina: one text each for all hosts that read Agent Skills."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from lamina.hosts.setup import SERVER, OwnFile, Where

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("memory", "digest", "digest-refine")
"""The skills by their short names, which are also those of their texts in `assets/skills`."""

PREFIX = "lamina-"
"""Stands before a name where skills of several origins are side by side: `memory` is often taken."""


def skill_files(where: Where, folder: Path, *, prefix: str = PREFIX) -> Iterator[OwnFile]:
    """Yield the files of all skills, each in a folder of its name below `folder`."""
    for name in NAMES:
        yield OwnFile(folder / f"{prefix}{name}" / "SKILL.md", skill(where, name, prefix=prefix))


def skill(where: Where, name: str, *, prefix: str = PREFIX) -> str:
    """Return the text of a SKILL.md."""
    from shlex import quote

    text = (files("lamina.hosts") / "assets" / "skills" / f"{name}.md").read_text("utf-8")
    for mark, value in (
        ("@NAME@", f"{prefix}{name}"),
        ("@SERVER@", SERVER),
        ("@PROGRAM@", quote(str(where.program))),
        ("@DIGEST@", f"the skill {prefix}digest"),
        ("@REFINE@", f"The skill {prefix}digest-refine"),
    ):
        text = text.replace(mark, value)
    return text
