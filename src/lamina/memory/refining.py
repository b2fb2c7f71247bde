"""Stage 3 of a project's memory from where one stands: which file, who makes the plan, which core."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.pipeline.refine import plan as planning
from lamina.pipeline.refine.account import accounted, sound
from lamina.pipeline.refine.run import Report, Target, read, run, stops

if TYPE_CHECKING:
    from lamina.formats.digest import Digest
    from lamina.memory.opened import Opened
    from lamina.pipeline.refine.plan import Plan
    from lamina.pipeline.semantic import Core

Json = dict[str, Any]
COPY = "an explicit copy is refined; name a core with --semantic-env"


def plan(
    opened: Opened,
    *,
    file: str | os.PathLike[str] | None = None,
    project: str | os.PathLike[str] | None = None,
    memory_path: str | None = None,
) -> Json:
    """Return the plan that needs no judgement, with what stands in the way; nothing is written."""
    target = _target(opened, file, project, memory_path)
    _, digest = read(target)
    found = stops(target, digest, opened.clock())
    made = sound(planning.proposed(digest)) if digest.fatal is None else planning.Plan({})
    return planning.as_json(str(target.path), found, made)


def refine(  # noqa: PLR0913 - one for each word of the command
    opened: Opened,
    *,
    file: str | os.PathLike[str] | None = None,
    project: str | os.PathLike[str] | None = None,
    memory_path: str | None = None,
    given: object = None,
    model: str | None = None,
    semantic_env: str | None = None,
    approve: Callable[[Json], bool] | bool = False,
    force: bool = False,
    dry_run: bool = False,
) -> Json:
    """Rewrite a project's digest by a plan: the `given` one, else a permitted model's, else our own.

    `file` is an explicit copy, which needs no approval and tells no core unless one is named. `approve` is
    the person's yes, or asks for it with what would be done.
    """
    from lamina.memory.projects import is_own, remember
    from lamina.memory.semantics import core_of

    target = _target(opened, file, project, memory_path)
    own = target.canonical and is_own(opened, target.folder)

    def cores() -> tuple[Core | None, str]:
        if not target.canonical and semantic_env is None:
            return None, COPY
        return core_of(opened, memory=target.path.parent, env_name=semantic_env)

    def say_yes(report: Report) -> bool:
        return approve(report.as_json()) if callable(approve) else approve

    report = run(
        target,
        (lambda digest: accounted(given, digest)) if given is not None else _maker(opened, model),
        cores,
        now=opened.clock(),
        approve=say_yes,
        given=given is not None,
        force=force,
        dry_run=dry_run,
    )
    if report.wrote and target.canonical:
        remember(opened, target.folder, own=own or not report.retried)  # else a person approved it as it is
    return report.as_json()


def _maker(opened: Opened, model: str | None) -> Callable[[Digest], Plan]:
    """Return who makes the plan where none was given: a model whose every line is judged, or nobody."""
    from lamina.memory.distilling import asker_for
    from lamina.pipeline.refine.asked import asked

    asker = asker_for(opened, model)

    def make(digest: Digest) -> Plan:
        own = sound(planning.proposed(digest))
        return own if asker is None else asked(asker, own, limit=opened.settings["consolidate_bytes"])

    return make


def _target(
    opened: Opened,
    file: str | os.PathLike[str] | None,
    project: str | os.PathLike[str] | None,
    memory_path: str | None,
) -> Target:
    from lamina.memory.projects import folder_of

    folder = folder_of(opened, project=project, memory_path=memory_path)
    if file is None:
        return Target(folder, folder.digest, canonical=True)
    path = Path(os.path.abspath(file))
    if not path.exists():
        raise errors.NoSuchFile(
            f"{file}: no such file", "name a digest, or leave it out for the project's own"
        )
    return Target(folder, path, canonical=os.path.realpath(path) == os.path.realpath(folder.digest))
