"""What stands in `state/bin`: the two commands that host settings name, and the hook's own modules.

They outlive an upgrade or a removal of Lamina's environment: settings name these paths alone, each command
looks whether its interpreter still is there, and `write` puts them right again.
"""

from __future__ import annotations

import os
import py_compile
import sys
from collections.abc import Mapping
from importlib.resources import files as resources
from pathlib import Path
from shlex import quote

from lamina.hosts.base import HOSTS, ONLY_LIVE, live_named
from lamina.store import files
from lamina.store.layout import Layout

FOLDER = "bin"
PACKAGE = "lamina_hook"
_MODULES = ("fast", "call", "payload", "disk", "cardfile")

_HOOK = """\
#!/bin/sh
# Lamina's hook: `hook HOST EVENT`, the payload on standard input. Written by `lamina install`.
python={python}
[ -x "$python" ] || exit 0
exec "$python" -I -S -c '
import sys
sys.path.insert(0, sys.argv.pop(1))
from lamina_hook.run import run
run()' {folder} "$@" 2>/dev/null
"""
_LAMINA = """\
#!/bin/sh
# The lamina command, bound to this store. Written by `lamina install`.
python={python}
if [ ! -x "$python" ]; then
  echo "lamina: its Python ($python) is gone: install Lamina again, then run: lamina doctor --fix" >&2
  exit 1
fi
unset PYTHONPATH PYTHONHOME PYTHONSTARTUP
LAMINA_ROOT={root} exec "$python" -P -m lamina "$@"
"""
_RUN = '''\
"""Starts the hook: written for one store and one installation of Lamina."""

import os
import sys

from . import fast

STATE = {state!r}
PROGRAM = {program!r}
DIALECTS = {dialects!r}


def run():
    fast.main(sys.argv[1:], state=STATE, dialects=DIALECTS, program=PROGRAM)
    os._exit(0)
'''


def hook(root: Path) -> Path:
    """Return the hook command of a store."""
    return root / "state" / FOLDER / "hook"


def lamina(root: Path) -> Path:
    """Return the `lamina` command of a store."""
    return root / "state" / FOLDER / "lamina"


def write(root: Path, *, python: str | None = None) -> None:
    """Write the commands of a store, for the Python at `python` (default: the one that runs now).

    What is right already is left as it is. Raises UnwritableStore.
    """
    for path, text in contents(root, python=python).items():
        files.make_dir(path.parent)
        if not _is(path, text):
            files.write_text(path, text, durable=False)
        if path.parent == hook(root).parent:
            path.chmod(0o700)
        else:
            py_compile.compile(str(path), doraise=True)


def stale(root: Path, *, python: str | None = None) -> list[Path]:
    """Return the files of `state/bin` that are missing or not those of this installation."""
    return [path for path, text in contents(root, python=python).items() if not _is(path, text)]


def remove(root: Path) -> None:
    """Take the commands away again."""
    import shutil

    shutil.rmtree(hook(root).parent, ignore_errors=True)


def dialects() -> Mapping[str, Mapping[str, object]]:
    """Return how each host's hooks speak, as plain data."""
    found = (live_named(name) for name in (*HOSTS, *ONLY_LIVE))
    return {host.name: host.hooks.literal() for host in found if host is not None}


def program(root: Path, python: str) -> tuple[str, ...]:
    """Return the command that starts what the hook does not do itself."""
    return (python, "-P", "-m", "lamina.live", str(root))


def contents(root: Path, *, python: str | None = None) -> dict[Path, str]:
    """Return the files of `state/bin` and what has to stand in them."""
    own = python or sys.executable
    layout, base = Layout(Path(os.path.abspath(root))), _base(own)
    folder = layout.state / FOLDER
    package = folder / PACKAGE
    run = _RUN.format(state=str(layout.state), program=program(layout.root, own), dialects=dict(dialects()))
    modules = {name: (resources("lamina.live") / f"{name}.py").read_text("utf-8") for name in _MODULES}
    return {
        folder / "hook": _HOOK.format(python=quote(base), folder=quote(str(folder))),
        folder / "lamina": _LAMINA.format(python=quote(own), root=quote(str(layout.root))),
        package / "__init__.py": '"""The hook command of Lamina, on the standard library alone."""\n',
        package / "run.py": run,
        **{package / f"{name}.py": text for name, text in modules.items()},
    }


def _base(python: str) -> str:
    """Return the interpreter behind a virtual environment: it outlives that."""
    base = getattr(sys, "_base_executable", "") if python == sys.executable else ""
    return os.path.realpath(base) if base and os.access(base, os.X_OK) else python


def _is(path: Path, text: str) -> bool:
    return files.read_optional(path) == text
