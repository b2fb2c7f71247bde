"""What keeps a plugin package from being mounted by name is found before it ships."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lamina.install.package_check import problems

ENTRY = """import { Schema } from '@deepseek-ai/cordis'
import { readFile } from 'node:fs/promises'
export const name = 'x'
export const inject = []
export const Config = Schema
export function apply(ctx) {}
"""
PATCH = "- insert:\n    - id: x\n      name: x-plugin\n"
PACKAGE: dict[str, Any] = {
    "name": "x-plugin",
    "type": "module",
    "main": "src/index.js",
    "files": ["src", "cordis.patch.yml"],
    "peerDependencies": {"@deepseek-ai/cordis": "*"},
}


def package(folder: Path, entry: str = ENTRY, patch: str = PATCH, **changed: Any) -> Path:
    (folder / "src").mkdir()
    (folder / "src" / "index.js").write_text(entry, encoding="utf-8")
    (folder / "cordis.patch.yml").write_text(patch, encoding="utf-8")
    (folder / "package.json").write_text(json.dumps(PACKAGE | changed), encoding="utf-8")
    return folder


def test_a_sound_package_has_no_problem(tmp_path: Path) -> None:
    assert problems(package(tmp_path)) == []


@pytest.mark.parametrize("name", ["name", "inject", "Config"])
def test_a_missing_export(tmp_path: Path, name: str) -> None:
    entry = ENTRY.replace(f"export const {name}", f"const {name}")
    assert problems(package(tmp_path, entry)) == [f"the entry does not export {name}"]


@pytest.mark.parametrize("more", ["export default apply\n", "export { apply as default }\n"])
def test_a_default_export(tmp_path: Path, more: str) -> None:
    assert problems(package(tmp_path, ENTRY + more)) == ["the entry has a default export"]


@pytest.mark.parametrize("patch", [PATCH.replace("x-plugin", "./src/index.js"), "[]", "x: 1", "- insert: 3"])
def test_a_patch_that_does_not_mount_by_name(tmp_path: Path, patch: str) -> None:
    assert problems(package(tmp_path, patch=patch)) == ["cordis.patch.yml does not mount x-plugin by name"]


def test_a_peer_that_is_not_declared(tmp_path: Path) -> None:
    found = problems(package(tmp_path, peerDependencies={}))
    assert found == ["src/index.js imports @deepseek-ai/cordis, which is no declared peer"]


def test_a_file_that_does_not_ship(tmp_path: Path) -> None:
    found = problems(package(tmp_path, files=["src"]))
    assert found == ["cordis.patch.yml is not among the files that ship"]


def test_a_package_that_cannot_be_read(tmp_path: Path) -> None:
    assert problems(tmp_path)[0].startswith("package.json can't be read")
