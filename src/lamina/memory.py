"""Memory: one open memory, wired together. The only place where the parts meet.

Everything is made when it is first needed, so that a cold search opens no more than it reads.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.formats.scope import Scope
from lamina.settings import Settings
from lamina.store.identity import Workspace, resolve
from lamina.store.registry import Registry
from lamina.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date

    from lamina.formats.entry import Draft
    from lamina.index.base import Changes, Index
    from lamina.pipeline.recall import Found
    from lamina.pipeline.remember import Outcome
    from lamina.formats.event import Session
    from lamina.pipeline.status import Cadence
    from lamina.store.files import Problem
    from lamina.store.store import Located
    from lamina.store.write import Writing

Json = dict[str, Any]
Rows = list[Json]
Entries = list["Located"]
Differences = list[str]
SIMILAR = 3


def utc_now() -> datetime:
    """Return the time now, in UTC and whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


class Memory:
    """A store, the workspace it is used from, and everything that can be done with the two.

    Reading creates nothing; the first write makes the store. All days are UTC days, all files in
    results are relative to `root`. Every failure is a `LaminaError`.
    """

    def __init__(
        self,
        own: Settings,
        *,
        env: Mapping[str, str],
        home: Path,
        cwd: Path | None,
        explicit: str | None,
        clock: Callable[[], datetime],
    ) -> None:
        self.root = Path(os.path.abspath(own.root))
        self.env = env
        self.home = home
        self.cwd = cwd
        self._own = own
        self.explicit = explicit
        self.clock = clock

    @classmethod
    def open(
        cls,
        root: str | os.PathLike[str] | None = None,
        *,
        workspace: str | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> Memory:
        """Open the memory at `root` (default: the setting `root`) as seen from `cwd`.

        `workspace` names the workspace in place of the one that `cwd` belongs to.
        """
        env = os.environ if env is None else env
        home = Path(env.get("HOME") or Path.home())
        folder = _working_directory() if cwd is None else Path(os.path.abspath(cwd))
        flags = {"root": os.path.abspath(root)} if root else {}
        own = Settings.load(env=env, home=home, flags=flags)
        return cls(own, env=env, home=home, cwd=folder, explicit=workspace, clock=clock)

    # -- where we are

    @property
    def exists(self) -> bool:
        """Whether there is a store at the root."""
        return (self.root / "memory.json").is_file()

    @cached_property
    def store(self) -> Store:
        """The store; raises NoStore where there is none yet."""
        return Store.open(self.root)

    @cached_property
    def workspace(self) -> Workspace:
        """The workspace that this memory is used from."""
        return self.workspace_of(self.cwd, explicit=self.explicit)

    @cached_property
    def settings(self) -> Settings:
        """The settings, with what the project here may say."""
        return self._own.with_project(self.workspace.project)

    @property
    def scope(self) -> Scope:
        """The scope that writes go to by default."""
        return self.workspace.scope

    @property
    def today(self) -> date:
        """The UTC day."""
        return self.clock().date()

    def workspace_of(
        self, folder: str | os.PathLike[str] | None, *, explicit: str | None = None, remote: str | None = None
    ) -> Workspace:
        """Return the workspace of a folder, whether it is known yet or not; nothing is written.

        `remote` is the origin that a transcript names, for a folder that is gone.
        """
        return resolve(
            folder if folder is None else Path(folder),
            registry=Registry.load(self.root),
            env=self.env,
            home=self.home,
            root_commits=_root_commits,
            explicit=explicit,
            transcript_remote=remote,
        )

    def resolve_key(self, folder: str | os.PathLike[str]) -> str | None:
        """Return the key of a folder's workspace, None for the global scope."""
        return self.workspace_of(folder).key

    # -- finding

    @cached_property
    def index(self) -> Index:
        """The search index; `search` brings it up to date."""
        from lamina.index.embedded import Embedded
        from lamina.index.source import index_home

        return Embedded(index_home(self.root, self.env))

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        scope: str | None = None,
        layer: str | None = None,
        topic: str | None = None,
        trust: str | None = None,
        since: str | date | None = None,
        until: str | date | None = None,
    ) -> Found:
        """Find entries by words, best first.

        `scope`: `all`, `global`, `workspace` or `workspace:KEY` (default: here and global). `trust`: a comma
        list, or `all`. `since` and `until`: days, or `7d` for that long ago. No text of a query raises but a
        blank one (UsageError); an unknown name in a filter does.
        """
        from lamina.pipeline import recall
        from lamina.pipeline.filters import parse_when

        asked = recall.question(
            query,
            here=self.scope,
            scope=scope or "",
            layers=(layer,) if layer else (),
            topic=topic or "",
            trust=[name.strip() for name in trust.split(",")] if trust else (),
            since=parse_when(since, self.today),
            until=parse_when(until, self.today),
            limit=limit,
        )
        if not self.exists:
            return recall.Found(query, ("words",), ())
        self.refresh_index()
        return recall.search(self.index, asked, today=self.today, here=self.scope)

    def refresh_index(self) -> Changes:
        """Bring the index up to date with the files."""
        from lamina.index.source import StoreSource

        return self.index.refresh(StoreSource(self.root))

    def list(self, *, limit: int | None = None, **filters: Any) -> tuple[Rows, Sequence[Problem]]:
        """Return entries, newest first, and what was wrong with single files. Filters as `search`."""
        from lamina.pipeline import browse

        entries = browse.newest_first(self._chosen(**filters))
        return [browse.item(each, self.today) for each in entries[:limit]], self._problems()

    def show(self, id: str) -> Json:
        """Return one entry with all it holds; raises NoEntry."""
        from lamina.pipeline import browse

        return browse.whole(browse.found(self._reading(id), id), self.today)

    def why(self, id: str) -> Json:
        """Return the chain from an entry back to where it came from; raises NoEntry."""
        from lamina.pipeline import browse
        from lamina.pipeline.why import why

        located = browse.found(self._reading(id), id)
        return {"id": located.entry.id, "heading": located.entry.heading, "chain": why(self.store, located)}

    def log(self, *, since: str | date | None = None, limit: int = 20) -> Rows:
        """Return what was learnt, by session, newest first, in every scope."""
        from lamina.pipeline import browse

        return browse.learnt(self._chosen(scope="all", since=since), limit)

    def card(self, *, budget: int | None = None) -> str:
        """Return the context block for a new session here; empty where there is no store."""
        from lamina.pipeline.card import card

        if not self.exists:
            return ""
        return card(self.store, self.scope, now=self.clock(), budget=budget or self.settings["card_chars"])

    # -- writing

    def remember(
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
        from lamina.pipeline.remember import entry_draft

        draft = entry_draft(
            text,
            scope=self._target(scope),
            today=self.today,
            layer=layer,
            topic=topic,
            heading=heading,
            importance=importance,
            source=source,
            until=until,
            volatility=volatility,
        )
        return self._store_draft(draft, label="remember", dry_run=dry_run)

    def decision(
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
        from lamina.pipeline.remember import decision_draft, entry_draft

        draft = entry_draft(
            decision,
            scope=self._target(scope),
            today=self.today,
            layer="decisions",
            topic=topic,
            importance=importance,
            source=source,
        )
        said = Decision(draft.heading, context, rationale, tuple(alternatives), consequences)
        return self._store_draft(decision_draft(said, draft, topic), label="decision", dry_run=dry_run)

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
        from dataclasses import replace

        from lamina.pipeline.remember import entry_draft

        draft = entry_draft(
            text,
            scope=self.scope,
            today=self.today,
            layer="codebase",
            topic=topic,
            importance=importance,
            source=source,
        )
        return self._store_draft(replace(draft, replaces=True), label="codebase", dry_run=dry_run)

    def state(self) -> Json:
        """Return the repository's state, section by section, with grades."""
        from lamina.pipeline.current import show_state

        return (
            show_state(self.store, self.scope, self.clock()) if self.exists else {"file": "", "sections": []}
        )

    def set_state(self, section: str, text: str, *, dry_run: bool = False) -> Json:
        """Replace one section of the repository's state."""
        from lamina.pipeline.current import write_state

        store = self._writable(dry_run=dry_run)
        return self._wrote(
            write_state(
                store, self.scope, section, text, self.clock(), dry_run=dry_run, register=self._register
            ),
            dry_run=dry_run,
        )

    def working(self) -> Json:
        """Return what the agent is in the middle of here."""
        from lamina.pipeline.current import show_working

        empty = {"file": "", "text": "", "grade": "not started"}
        return show_working(self.store, self.scope, self.clock()) if self.exists else empty

    def set_working(self, *, dry_run: bool = False, **parts: Any) -> Json:
        """Update working.md: `section` with `text`, `activity`, `clear_activity`."""
        from lamina.pipeline.current import write_working

        store = self._writable(dry_run=dry_run)
        return self._wrote(
            write_working(store, self.scope, self.clock(), dry_run=dry_run, register=self._register, **parts),
            dry_run=dry_run,
        )

    def edit(
        self,
        id: str,
        *,
        text: str | None = None,
        fields: Mapping[str, str | None] | None = None,
        dry_run: bool = False,
    ) -> Json:
        """Change an entry's text, heading, importance, until, volatility, verified or trust; raises NoEntry."""
        from lamina.pipeline.revise import revision

        change = revision(text=text, fields=fields or {}, today=self.today)
        with self._writable(dry_run=dry_run).writing(label="edit", at=self.clock(), dry_run=dry_run) as batch:
            written = batch.change(id, change)
        return self._wrote({"id": written.id, "file": written.rel, "line": written.line}, dry_run=dry_run)

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
        target = self._target(scope) if scope else None
        with self._writable(dry_run=dry_run).writing(label="move", at=self.clock(), dry_run=dry_run) as batch:
            written = batch.move(id, scope=target, layer=layer, topic=topic)
        return self._wrote({"id": written.id, "file": written.rel, "line": written.line}, dry_run=dry_run)

    def forget(
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
        from lamina.pipeline import forget
        from lamina.pipeline.filters import parse_when

        store = self._writable(dry_run=dry_run)
        chosen = forget.choose(
            store,
            tuple(ids),
            session=session,
            workspace=whole_workspace,
            since=parse_when(since, self.today),
            forgotten=undo,
        )
        if undo:
            done = forget.release(store, chosen, self.clock(), dry_run=dry_run)
        else:
            done = forget.bury(store, chosen, self.clock(), reason=reason, purge=purge, dry_run=dry_run)
        if purge and not undo and not dry_run:
            self.rebuild_index()
        return self._wrote(done, dry_run=dry_run)

    def undo(self, *, dry_run: bool = False) -> Json:
        """Take back the last write that people can see; raises Refused if a file changed since."""
        from lamina.store import journal

        nothing: Json = {"label": "", "at": None, "files": []}
        if not self.exists:
            return nothing
        record = journal.undo_last(self.store, at=self.clock(), dry_run=dry_run)
        at = record.time.isoformat() if record.time else None
        return self._wrote({"label": record.label, "at": at, "files": [*record.tracked]}, dry_run=dry_run)

    # -- sessions

    def capture(
        self,
        path: str | os.PathLike[str],
        *,
        host: str | None = None,
        final: bool = False,
        dry_run: bool = False,
    ) -> Json:
        """Turn what is new in one transcript into a note. With `final` the session has ended: thin notes are kept."""
        from lamina.pipeline import importing

        self._capture_allowed()
        store = self._writable(dry_run=dry_run)
        captured = importing.capture_one(
            store,
            Path(path),
            host=host,
            resolve=self._session_workspace,
            now=self.clock(),
            final=final,
            dry_run=dry_run,
        )
        return self._wrote(captured, dry_run=dry_run)

    def import_sessions(
        self,
        paths: Iterable[str | os.PathLike[str]] = (),
        *,
        host: str | None = None,
        progress: Callable[[Mapping[str, Any]], None] = lambda step: None,
        dry_run: bool = False,
    ) -> Json:
        """Read the transcripts at `paths`, or where the hosts keep them, and consolidate what they gave.

        Incremental: what was read before is not read again. May be killed and started again at any time.
        """
        from lamina.pipeline import importing

        self._capture_allowed()
        given = tuple(Path(path) for path in paths)
        if dry_run:
            return importing.plan_import(
                self.store if self.exists else None, given, host=host, home=self.home, env=self.env
            )
        summary = importing.import_sessions(
            self._writable(dry_run=False),
            given,
            host=host,
            home=self.home,
            env=self.env,
            resolve=self._session_workspace,
            now=self.clock,
            progress=progress,
        )
        return self._wrote(summary, dry_run=False)

    def pending(self) -> Sequence[str]:
        """Return the names of the notes that wait for consolidation."""
        from lamina.store import notes

        return [each.name for each in notes.pending(self.store)] if self.exists else []

    def consolidate(self, *, limit: int | None = None, dry_run: bool = False) -> Json:
        """Turn waiting notes into entries; equal and forgotten content is left out."""
        from dataclasses import asdict

        from lamina.pipeline.consolidate import consolidate

        if not self.exists:
            return {"notes": 0, "entries": 0, "known": 0, "refused": 0}
        done = consolidate(self.store, now=self.clock(), limit=limit, dry_run=dry_run)
        return self._wrote(asdict(done), dry_run=dry_run)

    # -- upkeep

    def init(self, *, remote: str | None = None, dry_run: bool = False) -> Json:
        """Make the store; an existing one is left as it is but for a remote that is given."""
        existed = self.exists
        if not dry_run:
            store = self._writable(dry_run=False)
            if remote:
                self._set_remote(store, remote)
            self.tick()
        return {"root": str(self.root), "existed": existed, "remote": remote}

    def tick(self, *, dry_run: bool = False) -> Json:
        """Run whatever is due now; safe to call as often as one likes."""
        from lamina.pipeline import status, tick

        if not self.exists:
            return {"ran": []}
        if dry_run:
            return {"ran": status.due(self.store, self.clock(), self._cadence())}
        ran = tick.tick(self.store, self.clock(), self._cadence(), keep=self.settings["notes_kept"])
        return self._wrote({"ran": ran}, dry_run=False)

    def status(self) -> Json:
        """Return what the store holds, what waits and what is due."""
        from lamina.pipeline import status

        here = {"workspace": self.scope.name, "paused": self._paused()}
        if not self.exists:
            return status.empty(self.root) | here
        return status.status(self.store, self.clock(), self._cadence()) | here

    def doctor(self, *, fix: bool = False) -> Rows:
        """Check everything that can be wrong; with `fix`, make derived data anew."""
        from lamina.pipeline import doctor

        if not self.exists:
            return [
                {
                    "level": "ok",
                    "message": f"there is no store at {self.root} yet",
                    "hint": "`lamina import` makes one",
                }
            ]
        findings = doctor.examine(self.store, self.clock(), self.check_index, fix=fix)
        if fix:
            self.rebuild_index()
        return [finding._asdict() for finding in findings]

    def rebuild_index(self) -> int:
        """Build the search index anew from the files; returns the number of entries in it."""
        from lamina.index.source import StoreSource

        return self.index.rebuild(StoreSource(self.root)).documents

    def check_index(self) -> Differences:
        """Return the differences between the index, brought up to date, and the files; empty when they agree."""
        from lamina.index.source import StoreSource

        self.refresh_index()
        return self.index.check(StoreSource(self.root))

    def export(
        self,
        format: str = "markdown",
        *,
        output: str | os.PathLike[str] | None = None,
        force: bool = False,
        limit: int | None = None,
        dry_run: bool = False,
        **filters: Any,
    ) -> Json:
        """Return the chosen entries as one document, and write it to `output` if given (never over a file unless forced)."""
        from lamina.pipeline import export

        entries = self._chosen(**filters)[:limit]
        document = export.as_document(entries, self.today)
        text = export.as_markdown(entries) if format == "markdown" else export.as_json(document)
        if output is not None and not dry_run:
            export.write(Path(output), text, force=force)
        return {"entries": len(entries), "text": text, "document": document}

    # -- workspaces and settings

    def workspaces(self) -> Rows:
        """Return the known workspaces with their remotes, their folders here and how many entries they hold."""
        if not self.exists:
            return []
        registry = Registry.load(self.root)
        counts = {known.key: sum(1 for _ in self.store.entries(Scope(known.key))) for known in registry}
        paths: dict[str, set[str]] = {}
        for folder, spot in registry.paths.items():
            paths.setdefault(spot.key, set()).add(folder)
        return [
            {
                "key": known.key,
                "title": known.title,
                "remotes": list(known.remotes),
                "paths": sorted(paths.get(known.key, ())),
                "entries": counts[known.key],
                "current": known.key == self.workspace.key,
            }
            for known in sorted(registry, key=lambda each: each.key)
        ]

    def associate(
        self, key: str, path: str | os.PathLike[str] = ".", *, title: str | None = None, dry_run: bool = False
    ) -> Json:
        """Bind a folder to a workspace by hand."""
        from lamina.store import workspaces

        folder = Path(os.path.abspath(path))
        if not folder.is_dir():
            raise errors.NoSuchFile(
                f"{folder} is not a folder", "name the folder that belongs to the workspace"
            )
        site = self.workspace_of(folder).site
        if site is None:
            raise errors.Refused(
                f"{folder} can't be a workspace", "the home folder, / and the store are never workspaces"
            )
        with self._writable(dry_run=dry_run).writing(
            label="associate", at=self.clock(), dry_run=dry_run
        ) as batch:
            bound = workspaces.associate(batch, key, site, root_commits=_root_commits, title=title or "")
        return self._wrote({"key": bound.key, "path": str(folder), "title": bound.title}, dry_run=dry_run)

    def trust(
        self, path: str | os.PathLike[str] = ".", *, revoke: bool = False, dry_run: bool = False
    ) -> Json:
        """Accept the .lamina.toml of a project as it is now, or take that back."""
        from lamina.store import project

        found = self.workspace_of(Path(os.path.abspath(path)))
        site = found.site
        if site is None or site.project is None:
            raise errors.NoSuchFile(
                f"there is no .lamina.toml at or above {Path(path).absolute()}", "nothing needs trust"
            )
        change = project.distrust if revoke else project.trust
        with self._writable(dry_run=dry_run).writing(
            label="trust", at=self.clock(), dry_run=dry_run
        ) as batch:
            change(batch, site.repository, site.project)
        state = "no longer trusted" if revoke else "trusted as it is now"
        return self._wrote({"file": str(site.project.path), "state": state}, dry_run=dry_run)

    def pause(self, duration: str | None = None, *, dry_run: bool = False) -> Json:
        """Stop capturing for `2h`, `30m`, `1d`, or until `resume`."""
        from lamina.formats.duration import parse_duration
        from lamina.store import pause

        seconds = parse_duration(duration) if duration else None
        if duration and seconds is None:
            raise errors.UsageError(f"{duration!r} is not a duration", "write 30m, 2h or 1d")
        until = None if seconds is None else self.clock() + timedelta(seconds=seconds)
        with self._writable(dry_run=dry_run).writing(label="pause", at=self.clock(), dry_run=dry_run) as batch:
            pause.pause(batch, until)
        return {"paused": True, "until": until.isoformat() if until else None}

    def resume(self, *, dry_run: bool = False) -> Json:
        """Capture again."""
        from lamina.store import pause

        if self.exists:
            with self.store.writing(label="resume", at=self.clock(), dry_run=dry_run) as batch:
                pause.resume(batch)
        return {"paused": False, "until": None}

    def config(self) -> Rows:
        """Return every setting with its value and where the value comes from."""
        return [
            {
                "key": setting.key,
                "value": self.settings.shown(setting.key),
                "origin": value.origin,
                "meaning": setting.meaning,
            }
            for setting, value in self.settings
        ]

    def config_value(self, key: str) -> Json:
        """Return one setting; raises BadSetting for an unknown one."""
        value = self.settings.value(key)
        return {"key": key, "value": self.settings.shown(key), "origin": value.origin}

    def set_config(self, key: str, value: str, *, project: bool = False, dry_run: bool = False) -> Json:
        """Write a setting to the user's config.toml, or to the project's .lamina.toml."""
        from lamina.settings import parse_value, set_value, setting_named

        file = self._own.file
        if project:
            site = self.workspace.site
            if site is None:
                raise errors.Refused("there is no project here", "go to the project's folder")
            file = site.project.path if site.project else site.root / ".lamina.toml"
        parsed = parse_value(setting_named(key), value) if dry_run else set_value(file, key, value)
        return {"key": key, "value": parsed, "file": str(file)}

    # -- the joints

    def _writable(self, *, dry_run: bool) -> Store:
        """Return the store to write to, made on first use; a dry run without a store works on one that is thrown away."""
        if not self.exists and dry_run:
            import atexit
            import shutil
            import tempfile

            scratch = tempfile.mkdtemp(prefix="lamina-dry-run-")
            atexit.register(shutil.rmtree, scratch, ignore_errors=True)
            return Store.open(Path(scratch) / "store", create=True, now=self.clock())
        if not self.exists:
            self.__dict__["store"] = Store.open(self.root, create=True, now=self.clock())
        return self.store

    def _target(self, scope: str | None) -> Scope:
        from lamina.pipeline.filters import scope_for_writing

        return scope_for_writing(scope, self.scope)

    def _reading(self, id: str) -> Store:
        if not self.exists:
            raise errors.NoEntry(
                f"no entry has the id {id!r}: there is no store at {self.root}", "`lamina import` makes one"
            )
        return self.store

    def _chosen(self, **filters: Any) -> Entries:
        from lamina.pipeline import browse
        from lamina.pipeline.filters import parse_filters

        chosen = parse_filters(self.scope, self.today, **filters)
        if not self.exists:
            return []
        self.store.problems.clear()
        return list(browse.choose(self.store, chosen))

    def _problems(self) -> Sequence[Problem]:
        return tuple(self.store.problems) if self.exists else ()

    def _store_draft(self, draft: Draft, *, label: str, dry_run: bool) -> Outcome:
        from lamina.pipeline.remember import store_draft

        store = self._writable(dry_run=dry_run)
        own = draft.scope == self.scope
        outcome = store_draft(
            store,
            draft,
            self.clock(),
            label=label,
            dry_run=dry_run,
            register=self._register if own else None,
            similar=self._similar,
        )
        self._settle(dry_run=dry_run)
        return outcome

    def _similar(self, draft: Draft) -> Sequence[str]:
        """Return the ids of entries in the draft's scope that say nearly the same."""
        from lamina.pipeline.similar import similar

        self.refresh_index()
        return similar(self.index, draft, limit=SIMILAR)

    def _register(self, batch: Writing) -> None:
        """Make the workspace known with the first thing that is written to it."""
        from lamina.store import workspaces

        workspaces.register(batch, self.workspace, root_commits=_root_commits)

    def _session_workspace(self, session: Session) -> Workspace:
        """Return the workspace that a session worked in."""
        return self.workspace_of(session.cwd or None, explicit=self.explicit, remote=session.remote or None)

    def _capture_allowed(self) -> None:
        from lamina.settings import capture_off

        why = capture_off(self.settings, None, env=self.env, now=self.clock())
        if why:
            raise errors.Refused(
                f"capture is off: {why}", "`lamina resume`, or `lamina config set capture on`"
            )

    def _cadence(self) -> Cadence:
        from lamina.pipeline.status import Cadence

        return Cadence(
            self.settings["consolidate_interval_s"],
            self.settings["consolidate_pending"],
            self.settings["commit_debounce_s"],
        )

    def _paused(self) -> bool:
        from lamina.store import pause

        return pause.paused(self.root, now=self.clock()) is not None

    def _set_remote(self, store: Store, remote: str) -> None:
        import json

        def change(text: str | None) -> str:
            said = json.loads(text or "{}")
            said["git"] = {**said.get("git", {}), "remote": remote}
            return json.dumps(said, ensure_ascii=False, indent=2, sort_keys=True) + "\n"

        with store.writing(label="init", at=self.clock()) as batch:
            batch.edit("memory.json", change)

    def _wrote(self, result: Json, *, dry_run: bool) -> Json:
        self._settle(dry_run=dry_run)
        return result

    def _settle(self, *, dry_run: bool) -> None:
        """Take the last write into the index; commit what was written a while ago."""
        if dry_run or not self.exists:
            return
        from lamina.store import git, log

        self.refresh_index()
        try:
            git.commit_if_dirty(self.store, now=self.clock(), older_than_s=self.settings["commit_debounce_s"])
        except errors.GitFailed as problem:
            # The write itself is safe; `status` and `doctor` tell why it is not committed yet.
            log.log(self.store.layout, "commit_failed", at=self.clock(), reason=problem.message)


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None  # it was removed: global


def _root_commits(folder: Path) -> tuple[str, ...]:
    from lamina.store.git import root_commits

    return tuple(sorted(root_commits(folder)))
