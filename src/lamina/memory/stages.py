"""The memory of the project one stands in: record, digest, refine, and its semantic core."""

from __future__ import annotations

import os

from lamina.memory.upkeep import Upkeep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.memory.reading import Json


class Stages(Upkeep):
    """What a project's own memory goes through.

    `project` is the project's folder (default: the one that one stands in), `memory_path` its memory folder
    (default: as its AGENTS.md, CLAUDE.md or .lamina.toml say, else `memory/`). Every method raises Undecided
    where a person must choose, with the choices.
    """

    def digest_plan(
        self, *, project: str | os.PathLike[str] | None = None, memory_path: str | None = None
    ) -> Json:
        """Return the sessions that the digest does not name yet, and its current items; writes nothing."""
        from lamina.memory import digesting

        return digesting.plan(self._at, project=project, memory_path=memory_path)

    def digest(
        self,
        *,
        project: str | os.PathLike[str] | None = None,
        memory_path: str | None = None,
        given: object = None,
        model: str | None = None,
        semantic_env: str | None = None,
        dry_run: bool = False,
    ) -> Json:
        """Append what is new and durable in the daily records to the digest.

        `given` is what an agent chose from the plan; else a permitted model chooses (`model` names another,
        `none` forbids), else the labelled bullets are taken as they stand.
        """
        from lamina.memory import digesting

        return digesting.digest(
            self._at,
            project=project,
            memory_path=memory_path,
            given=given,
            model=model,
            semantic_env=semantic_env,
            dry_run=dry_run,
        )
