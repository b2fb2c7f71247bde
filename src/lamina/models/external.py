"""A trusted program of the person's own: one JSON object in, one out, bounded in time and size.

The semantic core of another system is a folder with `ingest.mjs` and `refine.mjs`. They are run by Node
without a shell, with the request on standard input, and with no more of the environment than they need.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from tempfile import gettempdir
from typing import Any, NamedTuple

from lamina.models import child

LIMIT_S = 30.0
_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
_PASSED_BEGIN = ("OLLAMA_", "SEMANTIC_")


class Reply(NamedTuple):
    """What a run printed, and its exit code: programs that failed on one item say so in both."""

    said: dict[str, Any]
    code: int


class Failed(Exception):
    """Why a run gave no reply: a machine's word, and what a person may want to know."""

    def __init__(self, word: str, detail: str = "") -> None:
        super().__init__(detail or word)
        self.word = word


def call(
    script: Path,
    request: Mapping[str, Any],
    *,
    env: Mapping[str, str],
    variable: str,
    within_s: float = LIMIT_S,
) -> Reply:
    """Run a script with a request and return its reply.

    `variable` is the name of the one that pointed here; the script gets it, too. Raises Failed with
    `node_missing`, `no_script`, `not_started`, `timeout`, `too_much`, `exit_<code>` or `malformed`.
    """
    node = which("node", path=env.get("PATH", os.defpath))
    if node is None:
        raise Failed("node_missing", "node is not on PATH")
    if not os.path.isfile(script):  # noqa: PTH113 - no error of any kind counts as one
        raise Failed("no_script", f"{script} is no file")
    passed = {
        name: value
        for name, value in env.items()
        if name in _PASSED or name == variable or name.startswith(_PASSED_BEGIN)
    }
    text = json.dumps(request, ensure_ascii=False)
    try:
        ran = child.run(
            [node, str(script)],
            text,
            env=passed,
            folder=script.parent,
            within_s=within_s,
            scratch=Path(gettempdir()),
        )
    except (OSError, ValueError) as problem:
        raise Failed("not_started", str(problem)) from problem
    if ran.late:
        raise Failed("timeout", f"no reply within {within_s:g} s")
    if ran.flooded:
        raise Failed("too_much", "it printed too much")
    try:
        reply = json.loads(ran.out)
    except (ValueError, RecursionError):
        raise Failed(f"exit_{ran.code}" if ran.code else "malformed", ran.err[-300:]) from None
    if not isinstance(reply, dict):
        raise Failed("malformed", "the reply is no object")
    return Reply(reply, ran.code)
