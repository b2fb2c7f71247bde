"""Check that a plugin package of plain modules holds what a host needs to mount it by name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EXPORTS = ("name", "inject", "apply", "Config")
"""What the entry module of a DSH plugin exports by name."""
PATCH = "cordis.patch.yml"

_COMMENT = re.compile(r"^\s*//[^\n]*$|/\*.*?\*/", re.MULTILINE | re.DOTALL)
_DECLARED = re.compile(
    r"^export\s+(?:async\s+)?(?:const|let|var|function\*?|class)\s+([A-Za-z_$][\w$]*)", re.MULTILINE
)
_LISTED = re.compile(r"^export\s*\{([^}]*)\}", re.MULTILINE)
_DEFAULT = re.compile(r"^export\s+default\b", re.MULTILINE)
_IMPORT = re.compile(r"""(?:\bfrom|^\s*import|\bimport\s*\()\s*['"]([^'"\n]+)['"]""", re.MULTILINE)


def problems(folder: Path) -> list[str]:
    """Say what keeps the package in `folder` from being mounted by name; [] for a sound one."""
    try:
        told: Any = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        return [f"package.json can't be read: {problem}"]
    if not isinstance(told, dict) or not isinstance(told.get("name"), str):
        return ["package.json names no package"]
    entry = told.get("main")
    if not isinstance(entry, str) or not (folder / entry).is_file():
        return ["package.json: main names no file of the package"]
    if told.get("type") != "module":
        return ["package.json: type is not module"]
    return [
        *_wrong_exports(_source(folder / entry)),
        *_unmounted(folder, told["name"]),
        *_undeclared(folder, told),
        *_unshipped(folder, told, entry),
    ]


def _source(path: Path) -> str:
    return _COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace"))


def _wrong_exports(source: str) -> Iterator[str]:
    listed = (
        part.split(" as ")[-1].strip() for group in _LISTED.findall(source) for part in group.split(",")
    )
    found = {*_DECLARED.findall(source), *listed}
    for name in EXPORTS:
        if name not in found:
            yield f"the entry does not export {name}"
    if _DEFAULT.search(source) or "default" in found:
        yield "the entry has a default export"


def _unmounted(folder: Path, name: str) -> Iterator[str]:
    import yaml

    try:
        rows: Any = yaml.safe_load((folder / PATCH).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as problem:
        yield f"{PATCH} can't be read: {problem}"
        return
    inserted = [row.get("insert") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    entries = [entry for group in inserted if isinstance(group, list) for entry in group]
    if not any(isinstance(entry, dict) and entry.get("name") == name for entry in entries):
        yield f"{PATCH} does not mount {name} by name"


def _undeclared(folder: Path, told: dict[str, Any]) -> Iterator[str]:
    peers = told.get("peerDependencies")
    declared = set(peers) if isinstance(peers, dict) else set()
    for path in sorted((folder / "src").rglob("*.js")):
        for wanted in _IMPORT.findall(_source(path)):
            package = "/".join(wanted.split("/")[: 2 if wanted.startswith("@") else 1])
            if not wanted.startswith((".", "node:")) and package not in declared:
                yield f"{path.relative_to(folder).as_posix()} imports {package}, which is no declared peer"


def _unshipped(folder: Path, told: dict[str, Any], entry: str) -> Iterator[str]:
    listed = told.get("files")
    shipped = [str(item).strip("./") for item in listed] if isinstance(listed, list) else []
    sources = (path.relative_to(folder).as_posix() for path in sorted((folder / "src").rglob("*.js")))
    for file in dict.fromkeys((entry.removeprefix("./"), PATCH, *sources)):
        if not any(file == item or file.startswith(item + "/") for item in shipped):
            yield f"{file} is not among the files that ship"
