"""Whether a plugin's package for DeepSeek Harness holds what an install by its name needs.

`python -m lamina.install.package_check FOLDER` says what is wrong and exits 1, else 0.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: What the host looks for in a plugin's module.
EXPORTS = ("name", "inject", "apply", "Config")
_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'\\])//[^\n]*", re.DOTALL)
_NAMED = re.compile(r"^export\s+(?:async\s+)?(?:const|let|var|function\*?|class)\s+([\w$]+)", re.MULTILINE)
_LISTED = re.compile(r"^export\s*\{([^}]*)\}", re.MULTILINE)
_DEFAULT = re.compile(r"^export\s+default\b", re.MULTILINE)
_FROM = re.compile(
    r"""^(?:import\s*(?:[\w$*{][\w$*{},\s]*\bfrom\s*|[{][^}]*[}]\s*from\s*)?"""
    r"""|export\s*(?:\*[\w$\s]*|[{][^}]*[}])\s*from\s*)['"]([^'"]+)['"]""",
    re.MULTILINE,
)
_CALLED = re.compile(r"""\bimport\(\s*['"]([^'"]+)['"]\s*\)""")


def problems(folder: Path) -> list[str]:
    """Return what is wrong with the package in a folder, one sentence each; [] if nothing is."""
    try:
        manifest = json.loads((folder / "package.json").read_text("utf-8"))
    except (OSError, ValueError) as problem:
        return [f"package.json can't be read: {problem}"]
    if not isinstance(manifest, dict):
        return ["package.json is no object"]
    return [
        *_manifest(manifest),
        *_files(folder, manifest),
        *_entry(folder, manifest),
        *_patch(folder, manifest),
    ]


def _manifest(manifest: dict[str, Any]) -> Iterator[str]:
    for name in ("name", "version"):
        if not isinstance(manifest.get(name), str) or not manifest[name]:
            yield f"package.json has no {name}"
    if manifest.get("type") != "module":
        yield 'package.json lacks "type": "module", so its entry is not read as an ES module'
    scripts = manifest.get("scripts")
    for step in ("preinstall", "install", "postinstall", "prepare", "build"):
        if isinstance(scripts, dict) and step in scripts:
            yield f"the script {step} would have to run: the package has no build step"


def entry_of(manifest: dict[str, Any]) -> str:
    """Return the path of the module that the package's name stands for, "" if there is none."""
    found = manifest.get("exports", manifest.get("main"))
    if isinstance(found, dict):
        found = found.get(".", found)
    if isinstance(found, dict):
        found = found.get("import", found.get("default"))
    return found if isinstance(found, str) else ""


def _shipped(manifest: dict[str, Any], path: str) -> bool:
    """Tell whether a path is among the `files`; the manifest always is."""
    plain = path.removeprefix("./")
    files = manifest.get("files")
    listed = [str(name).removeprefix("./").rstrip("/") for name in (files if isinstance(files, list) else [])]
    return plain == "package.json" or any(plain == name or plain.startswith(f"{name}/") for name in listed)


def _files(folder: Path, manifest: dict[str, Any]) -> Iterator[str]:
    listed = manifest.get("files")
    if not isinstance(listed, list):
        yield "package.json does not list its files"
        return
    for name in listed:
        if not (folder / str(name)).exists():
            yield f"{name} is listed, but is not there"
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not _shipped(manifest, name):
            yield f"{name} is there, but would not ship: it is not among the files"


def _entry(folder: Path, manifest: dict[str, Any]) -> Iterator[str]:
    entry = entry_of(manifest)
    if not entry:
        yield "package.json exports no entry"
        return
    if not _shipped(manifest, entry):
        yield f"the entry {entry} does not ship"
    try:
        text = (folder / entry).read_text("utf-8")
    except OSError:
        yield f"the entry {entry} can't be read"
        return
    found = exported(text)
    yield from (f"the entry does not export {name}" for name in EXPORTS if name not in found)
    if "default" in found:
        yield "the entry has a default export: the host would take it for a service"
    for path in _modules(folder, entry):
        yield from _imports(folder, manifest, path)


def exported(text: str) -> set[str]:
    """Return the names that a module exports, `default` among them."""
    plain = _COMMENT.sub("", text)
    found = set(_NAMED.findall(plain)) | ({"default"} if _DEFAULT.search(plain) else set())
    for listed in _LISTED.findall(plain):
        found |= {item.split()[-1] for item in listed.split(",") if item.strip()}
    return found


def imported(text: str) -> list[str]:
    """Return what a module imports, as it is written."""
    plain = _COMMENT.sub("", text)
    return [*_FROM.findall(plain), *_CALLED.findall(plain)]


def _modules(folder: Path, entry: str) -> list[str]:
    """Return the entry and every module of the package that it leads to."""
    found, left = [], [entry.removeprefix("./")]
    while left:
        path = left.pop()
        if path in found or not (folder / path).is_file():
            continue
        found.append(path)
        inner = [name for name in imported((folder / path).read_text("utf-8")) if name.startswith(".")]
        left += [_beside(folder, path, name) for name in inner]
    return found


def _beside(folder: Path, path: str, name: str) -> str:
    target = (folder / path).parent.joinpath(name).resolve()
    return (
        target.relative_to(folder.resolve()).as_posix() if target.is_relative_to(folder.resolve()) else name
    )


def _imports(folder: Path, manifest: dict[str, Any], path: str) -> Iterator[str]:
    peers = (manifest.get(key) for key in ("peerDependencies", "dependencies"))
    declared = {manifest.get("name"), *(name for some in peers if isinstance(some, dict) for name in some)}
    for name in imported((folder / path).read_text("utf-8")):
        package = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
        if name.startswith("."):
            target = _beside(folder, path, name)
            if not (folder / target).is_file() or not _shipped(manifest, target):
                yield f"{path} imports {name}, which does not ship"
        elif not name.startswith("node:") and package not in declared:
            yield f"{path} imports {package}, which is not among the peerDependencies"


def _patch(folder: Path, manifest: dict[str, Any]) -> Iterator[str]:
    import yaml

    name: Any = manifest
    for key in ("dsh", "bundle", "patch"):
        name = name.get(key) if isinstance(name, dict) else None
    if not isinstance(name, str):
        yield "package.json names no dsh.bundle.patch"
        return
    if not _shipped(manifest, name):
        yield f"the patch {name} does not ship"
    try:
        items = yaml.safe_load((folder / name).read_text("utf-8"))
    except (OSError, yaml.YAMLError) as problem:
        yield f"the patch {name} can't be read: {problem}"
        return
    if not isinstance(items, list):
        yield f"the patch {name} is no list"
        return
    inserted = [
        entry
        for item in items
        if isinstance(item, dict) and "id" not in item and isinstance(item.get("insert"), list)
        for entry in item["insert"]
        if isinstance(entry, dict)
    ]
    if not any(entry.get("name") == manifest.get("name") and entry.get("id") for entry in inserted):
        yield f"the patch {name} does not mount the package by its name"


def main(arguments: list[str]) -> int:
    """Check the packages in the folders that are named."""
    found = [f"{folder}: {problem}" for folder in arguments for problem in problems(Path(folder))]
    sys.stderr.write("".join(f"{line}\n" for line in found))
    return 1 if found or not arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
