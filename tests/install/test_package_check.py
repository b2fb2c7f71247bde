"""The plugin's package for DeepSeek Harness holds what an install by its name needs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

from lamina.hosts.dsh_setup import PACKAGE
from lamina.install.package_check import problems


@pytest.fixture
def package(tmp_path: Path) -> Path:
    with as_file(files("lamina.hosts") / "assets" / "dsh") as shipped:
        return shutil.copytree(shipped, tmp_path / "package")


def change(package: Path, **fields: Any) -> None:
    path = package / "package.json"
    manifest = {**json.loads(path.read_text("utf-8")), **fields}
    path.write_text(json.dumps({key: value for key, value in manifest.items() if value is not None}), "utf-8")


def write(package: Path, name: str, text: str) -> None:
    (package / name).write_text(text, "utf-8")


def entry(package: Path) -> str:
    return (package / "src/index.js").read_text("utf-8")


def test_the_shipped_package_holds_what_an_install_by_name_needs(package: Path) -> None:
    assert problems(package) == []


def test_setup_writes_every_file_that_ships(package: Path) -> None:
    found = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    assert found == set(PACKAGE)


@pytest.mark.parametrize("name", ["name", "inject", "apply", "Config"])
def test_each_named_export_is_needed(package: Path, name: str) -> None:
    text = entry(package)
    for word in ("const", "function"):
        text = text.replace(f"export {word} {name}", f"{word} {name}")
    write(package, "src/index.js", text)
    assert problems(package) == [f"the entry does not export {name}"]
    write(package, "src/index.js", f"{text}\nexport {{ {name} }}\n")
    assert problems(package) == []


@pytest.mark.parametrize("text", ["export default apply\n", "export { apply as default }\n"])
def test_a_default_export_is_told(package: Path, text: str) -> None:
    write(package, "src/index.js", entry(package) + text)
    assert problems(package) == ["the entry has a default export: the host would take it for a service"]


@pytest.mark.parametrize("text", ["// export default apply\n", "/*\nexport default apply\n*/\n"])
def test_what_stands_in_a_comment_is_no_export(package: Path, text: str) -> None:
    write(package, "src/index.js", entry(package) + text)
    assert problems(package) == []


@pytest.mark.parametrize(
    ("line", "peer"),
    [
        ("import { z } from 'zod'", "zod"),
        ("import {\n  a,\n  b\n} from '@deepseek-ai/dsh-agent/events'", "@deepseek-ai/dsh-agent"),
        ("import 'react'", "react"),
        ("export * from 'zod/v4'", "zod"),
        ("const later = await import('zod')", "zod"),
    ],
)
def test_every_imported_peer_is_declared(package: Path, line: str, peer: str) -> None:
    write(package, "src/index.js", f"{line}\n{entry(package)}")
    assert problems(package) == [f"src/index.js imports {peer}, which is not among the peerDependencies"]
    change(package, peerDependencies={peer: "*"})
    assert problems(package) == []


def test_a_module_that_is_imported_ships(package: Path) -> None:
    write(package, "src/index.js", f"import './more.js'\n{entry(package)}")
    assert problems(package) == ["src/index.js imports ./more.js, which does not ship"]
    write(package, "src/more.js", "import 'zod'\n")
    assert "src/more.js imports zod, which is not among the peerDependencies" in problems(package)
    write(package, "src/more.js", "import './index.js'\n")
    change(package, files=["src", "cordis.patch.yml", "locale"])
    assert problems(package) == []


def test_what_lies_there_ships_and_what_ships_lies_there(package: Path) -> None:
    write(package, "notes.txt", "x")
    assert problems(package) == ["notes.txt is there, but would not ship: it is not among the files"]
    (package / "notes.txt").unlink()
    (package / "locale/en.json").unlink()
    assert problems(package) == ["locale/en.json is listed, but is not there"]


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "[]\n",
        "- id: lamina\n  name: lamina-dsh\n",
        "- insert:\n    - id: lamina\n      name: other\n",
        "- insert:\n    - name: lamina-dsh\n",
        "- id: group\n  insert:\n    - id: lamina\n      name: lamina-dsh\n",
        "- [a\n",
        "insert: lamina\n",
    ],
)
def test_the_patch_mounts_the_package_by_name(package: Path, patch: str) -> None:
    write(package, "cordis.patch.yml", patch)
    (problem,) = problems(package)
    assert problem.startswith("the patch ./cordis.patch.yml")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"type": None}, "type"),
        ({"dsh": None}, "dsh.bundle.patch"),
        ({"dsh": {"bundle": {}}}, "dsh.bundle.patch"),
        ({"exports": None, "main": None}, "exports no entry"),
        ({"exports": {".": "./src/gone.js"}}, "does not ship"),
        ({"name": ""}, "has no name"),
        ({"scripts": {"prepare": "tsc"}}, "build step"),
        ({"files": None}, "does not list its files"),
        ({"files": 5, "dsh": 5, "peerDependencies": 5, "scripts": 5}, "does not list its files"),
        ({"dsh": {"bundle": "x"}}, "dsh.bundle.patch"),
        ({"exports": 5, "main": 5}, "exports no entry"),
    ],
)
def test_what_the_manifest_lacks_is_told(package: Path, fields: dict[str, Any], told: str) -> None:
    change(package, **fields)
    assert any(told in problem for problem in problems(package))


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"'])
def test_a_manifest_that_is_none(package: Path, text: str) -> None:
    write(package, "package.json", text)
    assert len(problems(package)) == 1


def test_as_a_command(package: Path) -> None:
    command = [sys.executable, "-m", "lamina.install.package_check", str(package)]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    (package / "src/index.js").unlink()
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "src/index.js" in ran.stderr
