"""Memories as one document: Markdown for people, JSON for programs."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.errors import NoSuchFile, Refused, UnwritableStore
from lamina.formats.layers import LAYERS
from lamina.pipeline.browse import whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from lamina.store.store import Located

FORMAT = 1


def as_markdown(entries: Sequence[Located]) -> str:
    """Return the entries under headings for scope, layer and topic, each as it stands in its file."""
    parts = ["# Lamina memory"]
    for (scope, layer, topic), members in groupby(
        entries, key=lambda each: (each.scope.name, each.layer, each.topic)
    ):
        parts.append(f"# {scope} · {LAYERS[layer].title} · {topic}")
        parts += [each.entry.raw.replace("\r\n", "\n").strip() for each in members]
    return "\n\n".join(parts) + "\n"


def as_document(entries: Sequence[Located], today: date) -> dict[str, Any]:
    """Return the entries with all their fields, `format` telling the version of this shape."""
    return {"format": FORMAT, "exported": str(today), "entries": [whole(each, today) for each in entries]}


def as_json(document: dict[str, Any]) -> str:
    """Return the document as JSON text, with one line end."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def write(path: Path, text: str, *, force: bool, dry_run: bool = False) -> None:
    """Write the document to a file of the person's; an existing one only when forced."""
    if path.is_dir():
        raise Refused(f"{path} is a folder", "name a file in it")
    if path.exists() and not force:
        raise Refused(f"{path} is there already", "choose another name, or give --force")
    if not path.parent.is_dir():
        raise NoSuchFile(f"{path.parent} is not a folder", "make the folder first")
    if dry_run:
        return
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as problem:
        raise UnwritableStore(
            f"{path}: can't be written ({problem.strerror})", "choose another place"
        ) from None
