"""Memory: everything that can be done with one store, seen from one workspace."""

from __future__ import annotations

from lamina import errors
from lamina.memory.stages import Stages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date
    from typing import Unpack

    from lamina.memory.reading import Json
    from lamina.pipeline.filters import Asked
    from lamina.pipeline.remember import Outcome


class Memory(Stages):
    """A store, the workspace it is used from, and everything that can be done with the two.

    Reading creates nothing; the first write makes the store. All days are UTC days, all files in
    results are relative to `root`. Every failure is a `LaminaError`.
    """

    # -- writing

    def remember(  # noqa: PLR0913 - one for each word of the command
        self,
        text: str,
        *,
        layer: str = "semantic",
        scope: str | None = None,
        topic: str | None = None,
        heading: str | None = None,
        importance: str | int = 3,
        source: str | None = None,
        until: str | None = None,
        volatility: str | None = None,
        dry_run: bool = False,
    ) -> Outcome:
        """Store one entry. Never call this to fill a gap: storing nothing is a correct result."""
        from lamina.memory.writing import store_draft, target
        from lamina.pipeline.remember import entry_draft

        draft = entry_draft(
            text,
            scope=target(self._at, scope),
            today=self._at.today,
            layer=layer,
            topic=topic,
            heading=heading,
            importance=importance,
            source=source,
            until=until,
            volatility=volatility,
        )
        return store_draft(self._at, draft, label="remember", dry_run=dry_run)

    def decision(  # noqa: PLR0913 - one for each word of the command
        self,
        decision: str,
        *,
        rationale: str,
        context: str = "",
        alternatives: Sequence[str] = (),
        consequences: str = "",
        scope: str | None = None,
        topic: str | None = None,
        importance: str | int = 3,
        source: str | None = None,
        dry_run: bool = False,
    ) -> Outcome:
        """Store a settled choice and why it won; without a topic it gets one of its own."""
        from lamina.formats.decision import Decision
        from lamina.memory.writing import store_draft, target
        from lamina.pipeline.remember import decision_draft

        said = Decision(decision, context, rationale, tuple(alternatives), consequences)
        draft = decision_draft(
            said,
            scope=target(self._at, scope),
            today=self._at.today,
            topic=topic,
            importance=importance,
            source=source,
        )
        return store_draft(self._at, draft, label="decision", dry_run=dry_run)

    def codebase(
        self,
        topic: str,
        text: str,
        *,
        importance: str | int = 3,
        source: str | None = None,
        dry_run: bool = False,
    ) -> Outcome:
        """Store what a path or a subsystem is; a newer description supersedes the older one."""
        from lamina.memory.writing import store_draft
        from lamina.pipeline.remember import codebase_draft

        draft = codebase_draft(
            topic, text, scope=self.scope, today=self._at.today, importance=importance, source=source
        )
        return store_draft(self._at, draft, label="codebase", dry_run=dry_run)

    def set_state(self, section: str, text: str, *, dry_run: bool = False) -> Json:
        """Replace one section of the repository's state."""
        from lamina.memory import writing
        from lamina.pipeline.current import write_state

        done = write_state(
            writing.writable(self._at, dry_run=dry_run),
            self.scope,
            section,
            text,
            self._at.clock(),
            dry_run=dry_run,
            register=writing.registering(self._at, self.scope),
        )
        return self._wrote(done, dry_run=dry_run)

    def set_working(
        self,
        *,
        section: str | None = None,
        text: str = "",
        activity: str | None = None,
        clear_activity: bool = False,
        dry_run: bool = False,
    ) -> Json:
        """Replace a section of working.md, add to the recent activity, or empty it; all in one write."""
        from lamina.memory import writing
        from lamina.pipeline.current import write_working

        done = write_working(
            writing.writable(self._at, dry_run=dry_run),
            self.scope,
            self._at.clock(),
            section=section,
            text=text,
            activity=activity,
            clear_activity=clear_activity,
            dry_run=dry_run,
            register=writing.registering(self._at, self.scope),
        )
        return self._wrote(done, dry_run=dry_run)

    def edit(
        self,
        id: str,
        *,
        text: str | None = None,
        fields: Mapping[str, str | None] | None = None,
        dry_run: bool = False,
    ) -> Json:
        """Change an entry's text or its fields; raises NoEntry.

        `fields`: heading, importance, until, volatility, verified, trust. An empty value takes one away.
        """
        from lamina.memory.writing import writable
        from lamina.pipeline.revise import edit

        self._at.reading(id)
        store = writable(self._at, dry_run=dry_run)
        done = edit(store, id, self._at.clock(), text=text, fields=fields or {}, dry_run=dry_run)
        return self._wrote(done, dry_run=dry_run)

    def move(
        self,
        id: str,
        *,
        layer: str | None = None,
        topic: str | None = None,
        scope: str | None = None,
        dry_run: bool = False,
    ) -> Json:
        """Move an entry; in another scope or layer it gets a new id and keeps the old one as an alias."""
        from lamina.memory import writing
        from lamina.pipeline.revise import move

        self._at.reading(id)
        to = writing.target(self._at, scope) if scope else None
        done = move(
            writing.writable(self._at, dry_run=dry_run),
            id,
            self._at.clock(),
            scope=to,
            layer=layer,
            topic=topic,
            dry_run=dry_run,
            register=writing.registering(self._at, to) if to else None,
        )
        return self._wrote(done, dry_run=dry_run)

    def forget(  # noqa: PLR0913 - one for each word of the command
        self,
        ids: Iterable[str] = (),
        *,
        undo: bool = False,
        purge: bool = False,
        reason: str = "",
        session: str | None = None,
        whole_workspace: str | None = None,
        since: str | date | None = None,
        dry_run: bool = False,
    ) -> Json:
        """Forget entries so that their content does not come back, or release it with `undo`.

        Without ids, `session`, `whole_workspace` and `since` choose, all that are given together.
        """
        from lamina.memory import forgetting
        from lamina.pipeline.filters import parse_when

        done = forgetting.forget(
            self._at,
            tuple(ids),
            undo=undo,
            purge=purge,
            reason=reason,
            session=session,
            workspace=whole_workspace,
            since=parse_when(since, self._at.today),
            dry_run=dry_run,
        )
        return self._wrote(done, dry_run=dry_run)

    # -- review

    def review(self, *, limit: int | None = None, **filters: Unpack[Asked]) -> Json:
        """Return what waits for a person: `candidates`, oldest first, and `notes` that no model could handle.

        Each says why. Candidates of every branch are among them; of the filters, `trust` says nothing here.
        """
        from lamina.memory import reviewing

        return reviewing.listing(self._at, limit=limit, filters=filters)

    def review_show(self, id: str) -> Json:
        """Return a candidate or a note with the words that it rests on and what it conflicts with."""
        from lamina.pipeline import waiting

        return waiting.show(self._at.reading(id), id, self._at.today)

    def approve(self, ids: Iterable[str], *, keep_both: bool = False, dry_run: bool = False) -> Json:
        """Approve candidates, and file notes that wait for review, by id.

        What a candidate conflicts with is superseded by it, unless `keep_both`. One row each in `entries`;
        what was refused is in `failed`, and raised if there was only one id.
        """
        from lamina.memory import reviewing

        done = reviewing.approve(self._at, tuple(ids), keep_both=keep_both, dry_run=dry_run)
        return self._wrote(done, dry_run=dry_run)

    def approve_edited(
        self,
        id: str,
        *,
        text: str | None = None,
        heading: str | None = None,
        keep_both: bool = False,
        seen: str | None = None,
        dry_run: bool = False,
    ) -> Json:
        """Change a candidate's words and approve it, in one write.

        `seen` is the entry's whole text as it was looked at (`text` of `show`): raises ChangedMeanwhile if it
        says something else by now.
        """
        from lamina.memory import reviewing

        done = reviewing.edit(
            self._at, id, text=text, heading=heading, keep_both=keep_both, seen=seen, dry_run=dry_run
        )
        return self._wrote(done, dry_run=dry_run)

    def reject(self, ids: Iterable[str], *, reason: str, dry_run: bool = False) -> Json:
        """Forget candidates for a reason that is told when the value comes back; settle notes unfiled.

        The result is as that of `approve`.
        """
        from lamina.memory import reviewing

        done = reviewing.reject(self._at, tuple(ids), reason=reason, dry_run=dry_run)
        return self._wrote(done, dry_run=dry_run)

    def undo(self, *, dry_run: bool = False) -> Json:
        """Take back the last write that people can see.

        Raises Refused if there is none, or a file changed since.
        """
        from lamina.formats.dates import render_time
        from lamina.store import journal

        if not self.exists:
            raise errors.Refused("there is no write left to undo", f"there is no store at {self.root} yet")
        record = journal.undo_last(self.store, at=self._at.clock(), dry_run=dry_run)
        at = render_time(record.time) if record.time else None
        return self._wrote({"label": record.label, "at": at, "files": [*record.tracked]}, dry_run=dry_run)
