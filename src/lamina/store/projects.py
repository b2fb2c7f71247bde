"""The digests of projects that Lamina wrote or met on this machine: `state/projects.json`.

It lets a search from anywhere find them, and tells a digest that was written here from one that came with a
repository. Derived: without the file, digests are found where one stands.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from lamina import errors
from lamina.formats.frozen import NamedTuple
from lamina.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "state/projects.json"
_LOCK = "state/projects.lock"


class Known(NamedTuple):
    """A digest by its real path: the workspace's key ("" for none), the project's root, and its bytes' hash.

    `sha256` is that of what was written here last, "" if nothing was.
    """

    path: str
    key: str
    root: str
    sha256: str = ""


def known(root: Path) -> dict[str, Known]:
    """Return the digests that are known, by path; a damaged file knows none."""
    try:
        said = files.parse_json(files.read_optional(root / NAME) or "{}")
    except (errors.LaminaError, ValueError):
        return {}
    listed = said.get("digests") if isinstance(said, dict) else None
    return {
        path: one
        for path, value in (listed.items() if isinstance(listed, dict) else ())
        if (one := _known(path, value)) is not None
    }


def remember(root: Path, digest: Path, *, key: str, project: Path, sha256: str = "") -> None:
    """Note a digest; without `sha256` what was noted of its bytes stays. Raises UnwritableStore, Busy."""
    from lamina.store import locks  # a search only reads

    with locks.lock(root / _LOCK):
        found = known(root)
        path = os.fspath(digest)
        old = found.get(path)
        new = Known(path, key, os.fspath(project), sha256 or (old.sha256 if old else ""))
        if new == old:
            return
        found[path] = new
        listed = {
            each.path: {"key": each.key, "root": each.root, "sha256": each.sha256} for each in found.values()
        }
        text = json.dumps({"digests": listed}, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        files.write_text(root / NAME, text)


def _known(path: str, value: Any) -> Known | None:
    if not isinstance(value, Mapping) or not path.startswith(os.sep):
        return None
    said = [value.get(name, "") for name in ("key", "root", "sha256")]
    return Known(path, *said) if all(isinstance(each, str) for each in said) else None
