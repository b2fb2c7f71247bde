"""Stage 2 of a project's memory from where one stands: what it is given and who chooses."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lamina.pipeline.digest import drafts
from lamina.pipeline.digest.run import run
from lamina.pipeline.digest.view import look, require_state

if TYPE_CHECKING:
    from lamina.memory.opened import Opened
    from lamina.pipeline.digest.drafts import Selection
    from lamina.pipeline.digest.run import Choose
    from lamina.pipeline.digest.view import View

Json = dict[str, Any]


def plan(
    opened: Opened, *, project: str | os.PathLike[str] | None = None, memory_path: str | None = None
) -> Json:
    """Return the sessions that no digest names yet, and the items that are current; nothing is written."""
    from lamina.memory.projects import folder_of

    view = look(folder_of(opened, project=project, memory_path=memory_path))
    require_state(view)
    return drafts.plan(view)


def digest(  # noqa: PLR0913 - one for each word of the command
    opened: Opened,
    *,
    project: str | os.PathLike[str] | None = None,
    memory_path: str | None = None,
    given: object = None,
    model: str | None = None,
    semantic_env: str | None = None,
    dry_run: bool = False,
) -> Json:
    """Append what is new and durable to a project's digest.

    `given` is what an agent chose (`{"items": …, "nothing": …}`), else a model is asked if one is permitted
    (`model` as in an import), else the labelled bullets are taken as they stand.
    """
    from lamina.memory.projects import folder_of, is_own, remember
    from lamina.memory.semantics import core_of

    folder = folder_of(opened, project=project, memory_path=memory_path)
    chosen = (lambda view: drafts.given(view, given)) if given is not None else _choice(opened, model)
    own = is_own(opened, folder)
    report = run(
        folder,
        chosen,
        lambda: core_of(opened, memory=folder.path, env_name=semantic_env),
        now=opened.clock(),
        dry_run=dry_run,
    )
    if report.wrote:
        remember(opened, folder, own=own)
    return report.as_json()


def _choice(opened: Opened, model: str | None) -> Choose:
    """Return who chooses where nothing was given: a model with labels behind it, or labels alone."""
    from lamina.memory.distilling import asker_for
    from lamina.pipeline.digest.asked import PURPOSE, asked
    from lamina.store import exchange
    from lamina.store.layout import Layout

    asker = asker_for(opened, model)

    def choose(view: View) -> Selection:
        if asker is None:
            return drafts.labelled(view.new)
        return asked(asker, view, limit=opened.settings["consolidate_bytes"], keep=keep)

    def keep(prompt: str, reply: str, failed: bool) -> None:  # noqa: FBT001 - the shape of a log line
        exchange.keep(
            Layout(opened.root), PURPOSE, prompt=prompt, reply=reply, at=opened.clock(), failed=failed
        )

    return choose
