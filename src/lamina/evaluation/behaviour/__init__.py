"""Does Lamina behave as it says? A fixture suite over five axes, the same on every machine and every day.

Each case builds a small store in a temporary folder, does what a person or an agent would do through
`Memory`, and compares what comes out with what must hold. The cases are data: `fixtures/*.toml`, one file
an axis.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lamina.errors import LaminaError, UsageError
from lamina.evaluation.behaviour import judge
from lamina.evaluation.behaviour.cases import AXES, VERSION, Case, load_cases
from lamina.evaluation.behaviour.scene import Scene

__all__ = ["render_behaviour", "run_behaviour", "run_case"]

Json = dict[str, Any]

_MEMORY_DISK = Path("/dev/shm")  # noqa: S108 - only a parent: the folder in it has a name of its own
"""Half of the time goes to a disk that nothing needs afterwards, so the stores stand here where it exists."""


def run_behaviour(only: str | None = None) -> Json:
    """Run every case, or those of one axis or name; raises UsageError for a name that does not exist.

    Returns `version`, `passed`, `failed`, `axes` and `cases`, each case with the differences `told`.
    """
    return summed([run_case(case) for case in chosen(load_cases(), only)])


def chosen(cases: Sequence[Case], only: str | None) -> list[Case]:
    """Return the cases of this name or axis; None means all."""
    if only is None:
        return list(cases)
    wanted = [case for case in cases if only in (case.name, case.axis)]
    if wanted:
        return wanted
    from difflib import get_close_matches

    near = get_close_matches(only, [*AXES, *(case.name for case in cases)], n=3)
    raise UsageError(f"no case and no axis is called {only!r}", f"one of: {', '.join(near or AXES)}")


def run_case(case: Case) -> Json:
    """Run one case in a folder of its own; a failure of Lamina is a difference like any other."""
    place = _MEMORY_DISK if os.access(_MEMORY_DISK, os.W_OK | os.X_OK) else None
    with TemporaryDirectory(prefix="lamina-behaviour-", dir=place) as folder:
        scene = Scene(Path(folder), case)
        try:
            told = [*_found(scene, case), *scene.told]
        except LaminaError as problem:
            told = [*scene.told, f"it failed: {problem.message} ({problem.hint})"]
        finally:
            scene.close()
        told = [line.replace(str(scene.base), "") for line in told]
    return {"name": case.name, "axis": case.axis, "ok": not told, "told": told, "reason": case.reason}


def _found(scene: Scene, case: Case) -> list[str]:
    """Play a case and return its differences."""
    for step in case.steps:
        scene.play(step)
    match case.action:
        case "search":
            hits = scene.memory.search(case.subject, **(case.filters or {})).hits
            return judge.judge_search(scene, case.expect, hits)
        case "card":
            card = scene.memory.card(budget=case.subject)
            return judge.judge_card(scene, case.expect, case.subject, card)
        case _:
            for step in case.subject:
                scene.arrange(step)
            return judge.judge_folders(scene, case.expect)


def summed(done: Sequence[Json]) -> Json:
    """Count what held and what did not, in all and for each axis."""
    axes = {
        axis: {
            "passed": sum(case["ok"] for case in done if case["axis"] == axis),
            "failed": sum(not case["ok"] for case in done if case["axis"] == axis),
        }
        for axis in AXES
        if any(case["axis"] == axis for case in done)
    }
    passed = sum(case["ok"] for case in done)
    return {
        "version": VERSION,
        "passed": passed,
        "failed": len(done) - passed,
        "axes": axes,
        "cases": list(done),
    }


def render_behaviour(result: Json) -> str:
    """Return a short table, and below it each case that failed with what was expected and found."""
    width = max((len(axis) for axis in result["axes"]), default=0)
    rows = [("axis", "passed", "failed")]
    rows += [(axis, str(n["passed"]), str(n["failed"])) for axis, n in result["axes"].items()]
    rows.append(("all", str(result["passed"]), str(result["failed"])))
    lines = [f"{axis:<{max(width, 4)}}  {passed:>6}  {failed:>6}" for axis, passed, failed in rows]
    for case in result["cases"]:
        if not case["ok"]:
            lines += ["", f"{case['name']} ({case['axis']}): {case['reason']}"]
            lines += [f"  {line}" for line in case["told"]]
    return "\n".join(lines)
