"""The memory of the project one stands in: record, digest, refine, and its semantic core."""

from __future__ import annotations

import os

from lamina.memory.upkeep import Upkeep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lamina.memory.reading import Json


class Stages(Upkeep):
    """What a project's own memory goes through.

    `project` is the project's folder (default: the one that one stands in), `memory_path` its memory folder
    (default: as its AGENTS.md, CLAUDE.md or .lamina.toml say, else `memory/`). Every method raises Undecided
    where a person must choose, with the choices.
    """

    def record(  # noqa: PLR0913 - one for each word of the command
        self,
        *,
        body: str | None = None,
        topic: str = "",
        note: str | None = None,
        file: str = "",
        project: str | os.PathLike[str] | None = None,
        memory_path: str | None = None,
        commits: bool = True,
        dry_run: bool = False,
    ) -> Json:
        """Append a session to the record of today, from a body (Markdown or JSON) or a captured note.

        `note` is a note's name, or `latest`. `status` is `written`, `known` or `nothing`.
        """
        from lamina.memory import recording

        return recording.record(
            self._at,
            body=body,
            topic=topic,
            note=note,
            file=file,
            project=project,
            memory_path=memory_path,
            commits=commits,
            dry_run=dry_run,
        )

    def record_session(self, host: str, session: str) -> Json | None:
        """Record a captured session that has ended, if the setting `record` wants that; None if not."""
        from lamina.memory import recording

        return recording.at_end(self._at, host, session)

    def refine_plan(
        self,
        *,
        file: str | os.PathLike[str] | None = None,
        project: str | os.PathLike[str] | None = None,
        memory_path: str | None = None,
    ) -> Json:
        """Return the digest's items with what becomes of each, to be edited, and the gates in the way."""
        from lamina.memory import refining

        return refining.plan(self._at, file=file, project=project, memory_path=memory_path)

    def refine(  # noqa: PLR0913 - one for each word of the command
        self,
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
        """Rewrite the digest by a plan that accounts for every item, and approve in the core what stays.

        `given` is an edited plan; `approve` the person's yes, or asks for it. `file` is a copy, which needs
        none.
        """
        from lamina.memory import refining

        return refining.refine(
            self._at,
            file=file,
            project=project,
            memory_path=memory_path,
            given=given,
            model=model,
            semantic_env=semantic_env,
            approve=approve,
            force=force,
            dry_run=dry_run,
        )

    def semantic(self, verb: str, request: object) -> tuple[int, Json]:
        """Let a program `ingest`, `refine` or `query` the records behind a digest.

        Returns the exit code of `lamina semantic` and the reply. Raises BadInput, CoreUnavailable.
        """
        from lamina.memory import semantics

        return semantics.ask(self._at, verb, request)

    def semantic_rebuild(
        self, *, project: str | os.PathLike[str] | None = None, memory_path: str | None = None
    ) -> Json:
        """Make the records behind the digest anew from it."""
        from lamina.memory import semantics

        return semantics.rebuild(self._at, project=project, memory_path=memory_path)

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
