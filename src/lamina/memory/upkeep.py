"""What keeps a memory in order: the store itself, its jobs, its index, its workspaces and settings."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

from lamina import errors
from lamina.memory.sessions import Sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from lamina.memory.reading import Json, Rows
    from lamina.pipeline.filters import Asked


class Upkeep(Sessions):
    """Everything that looks after a store and says where it belongs."""

    # -- upkeep

    def init(self, *, remote: str | None = None, dry_run: bool = False) -> Json:
        """Make the store; an existing one is left as it is but for a remote that is given."""
        from lamina.memory.writing import writable
        from lamina.pipeline.spaces import set_remote

        existed = self.exists
        store = writable(self._at, dry_run=dry_run)
        if remote:
            set_remote(store, remote, self._at.clock(), dry_run=dry_run)
        if not dry_run:
            self.tick()
        return {"root": str(self.root), "existed": existed, "remote": remote}

    def refresh(self, *, limit: int | None = None, dry_run: bool = False) -> Json:
        """Let a model check stale entries against what their repositories say; at most `limit` (20).

        A dry run asks nobody and shows the evidence. Raises NoModelAnswered where no model is set.
        """
        from lamina.memory import refreshing

        return self._wrote(refreshing.refresh(self._at, limit=limit, dry_run=dry_run), dry_run=dry_run)

    def history(self, *, limit: int | None = None, dry_run: bool = False) -> Json:
        """Take new commits of the known repositories into memory now; at most `limit` (200), oldest first.

        Raises Busy if another process is at it. A repository that can't be read has a `reason`.
        """
        from lamina.memory import chronicle

        return self._wrote(chronicle.history(self._at, limit=limit, dry_run=dry_run), dry_run=dry_run)

    def sync(self, *, dry_run: bool = False) -> Json:
        """Commit what is not committed yet: `committed` is the commit, None if there was nothing.

        Nothing is sent or fetched: `hint` says how to do that with git where there is a `remote`.
        """
        from shlex import quote as quoted

        from lamina.pipeline import commit
        from lamina.store import git

        remote = self.settings["git_remote"] or None
        told: Json = {"committed": None, "remote": remote, "error": None, "hint": None}
        if not self.exists:
            return told
        if remote:
            branch = self.settings["git_branch"]
            told["hint"] = f"git -C {quoted(str(self.root))} push {quoted(remote)} HEAD:{quoted(branch)}"
        if dry_run:
            return told | {"due": git.is_dirty(self.store.layout)}
        made = commit.commit(self.store, self._at.clock(), older_than_s=0)
        error = git.obstacle(self.root) or commit.failure(self.store.layout)
        return told | {"committed": made, "error": error or None}

    def tick(self, *, dry_run: bool = False) -> Json:
        """Run whatever is due now; safe to call as often as one likes."""
        from lamina.memory import chronicle, distilling, finding, forgetting, refreshing
        from lamina.pipeline import status, tick

        if not self.exists:
            return {"ran": []}
        if dry_run:
            due = status.due(self.store, self._at.clock(), self._at.cadence())
            due += ["refresh"] if refreshing.is_due(self._at) else []
            due += ["history"] if chronicle.is_due(self._at) else []
            return {"ran": [*due, "vectors"] if finding.is_due(self._at) else due}
        ran = forgetting.finish(self._at)
        ran += tick.tick(
            self.store,
            self._at.clock(),
            self._at.cadence(),
            keep=self.settings["notes_kept"],
            finish=distilling.in_background(self._at),
            check=refreshing.in_background(self._at),
            take=chronicle.in_background(self._at),
        )
        self._wrote({}, dry_run=False)
        return {"ran": [*ran, "vectors"] if finding.catch_up(self._at) else ran}

    def doctor(self, *, fix: bool = False) -> Rows:
        """Check everything that can be wrong; with `fix`, make derived data anew."""
        from lamina.memory import finding, models
        from lamina.pipeline import doctor

        if not self.exists:
            return [doctor.nothing(self.root)._asdict()]
        derived = doctor.Derived(self.check_index, self.rebuild_index)
        findings = doctor.examine(self.store, self._at.clock(), derived, fix=fix)
        told = doctor.told([*self.warnings, *finding.trouble(self._at), *models.trouble(self._at)])
        return [each._asdict() for each in [*told, *findings]]

    def rebuild_index(self) -> int:
        """Build the search index anew from the files; returns the number of entries in it.

        Raises UnwritableStore where the disk takes none; searches then build one in memory each time.
        """
        from lamina.errors import UnwritableStore
        from lamina.index.source import index_home

        entries = self._at.embedded.rebuild(self._at.source).documents
        if self._at.embedded.in_memory:
            home = index_home(self.root, self._at.env)
            raise UnwritableStore(
                f"the search index could not be written to {home}",
                "make room or make that a folder of yours; searches work without it, but slower",
            )
        return entries

    def embed(
        self,
        *,
        within_s: float | None = None,
        progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> tuple[int, int]:
        """Make the vectors that are missing, for `within_s` seconds at most (None: all of them).

        May be stopped at any time: what is done stays. `progress` hears how many of how many are done.
        Returns how many were made and how many are left. Raises EmbedderUnavailable, and
        UnwritableStore where the disk takes none.
        """
        from lamina.errors import UnwritableStore
        from lamina.memory import finding

        if not self.exists:
            return (0, 0)
        made = finding.embed(self._at, within_s=within_s, progress=progress)
        if self._at.hybrid.loses_vectors:
            raise UnwritableStore("the vectors could not be written to the index", "make room on the disk")
        return made

    def export(
        self,
        format: str = "markdown",
        *,
        output: str | os.PathLike[str] | None = None,
        force: bool = False,
        limit: int | None = None,
        dry_run: bool = False,
        **filters: Unpack[Asked],
    ) -> Json:
        """Return the chosen entries as one document, and write it to `output` if given.

        Never over a file that is there, unless forced.
        """
        from lamina.pipeline import export

        entries = self._at.chosen(filters, branch=None)[:limit]
        document = export.as_document(entries, self._at.today)
        text = export.as_markdown(entries) if format == "markdown" else export.as_json(document)
        if output is not None:
            export.write(Path(output), text, force=force, dry_run=dry_run)
        return {"entries": len(entries), "text": text, "document": document}

    # -- workspaces and settings

    def associate(
        self, key: str, path: str | os.PathLike[str] = ".", *, title: str | None = None, dry_run: bool = False
    ) -> Json:
        """Bind a folder to a workspace by hand."""
        from lamina.memory.opened import root_commits
        from lamina.memory.writing import writable
        from lamina.pipeline.spaces import associate, folder_at

        folder = folder_at(path)
        done = associate(
            writable(self._at, dry_run=dry_run),
            key,
            self.workspace_of(folder).site,
            self._at.clock(),
            folder=folder,
            title=title or "",
            root_commits=root_commits,
            dry_run=dry_run,
        )
        return self._wrote(done, dry_run=dry_run)

    def trust(
        self, path: str | os.PathLike[str] = ".", *, revoke: bool = False, dry_run: bool = False
    ) -> Json:
        """Accept the .lamina.toml of a project as it is now, or take that back."""
        from lamina.memory.writing import writable
        from lamina.pipeline.spaces import folder_at, trust

        folder = folder_at(path)
        site = self.workspace_of(folder).site
        if site is None or site.project is None:
            raise errors.NoSuchFile(f"there is no .lamina.toml at or above {folder}", "nothing needs trust")
        store = writable(self._at, dry_run=dry_run)
        done = trust(store, site, self._at.clock(), revoke=revoke, dry_run=dry_run)
        return self._wrote(done, dry_run=dry_run)

    def pause(self, duration: str | None = None, *, dry_run: bool = False) -> Json:
        """Stop capturing for `2h`, `30m`, `1d`, or until `resume`."""
        from lamina.formats.dates import render_time
        from lamina.formats.duration import parse_duration
        from lamina.memory.writing import writable
        from lamina.store import pause

        seconds = parse_duration(duration) if duration else None
        if duration and not seconds:
            raise errors.UsageError(f"{duration!r} is not a duration", "write 30m, 2h or 1d")
        now = self._at.clock()
        until = now + timedelta(seconds=seconds) if seconds else None
        with writable(self._at, dry_run=dry_run).writing(label="pause", at=now, dry_run=dry_run) as batch:
            pause.pause(batch, until)
        return {"paused": True, "until": render_time(until) if until else None}

    def resume(self, *, dry_run: bool = False) -> Json:
        """Capture again."""
        from lamina.store import pause

        if self.exists and self._at.paused():
            with self.store.writing(label="resume", at=self._at.clock(), dry_run=dry_run) as batch:
                pause.resume(batch)
        return {"paused": False, "until": None}

    def set_config(self, key: str, value: str, *, project: bool = False, dry_run: bool = False) -> Json:
        """Write a setting to the user's config.toml, or to the project's .lamina.toml."""
        from lamina.memory import models
        from lamina.pipeline.spaces import project_file
        from lamina.settings.file import set_value

        file = project_file(self.workspace) if project else self._at.own.file
        if key == "embedder":
            from lamina.embed.choose import choose

            choose(value, env=self._at.env)  # says what is wrong with the name before it is written
        if key.startswith("model"):
            models.check(key, value, project=project)
        if not dry_run:
            return {"key": key, "value": set_value(file, key, value), "file": str(file)}
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="lamina-dry-run-") as scratch:  # the same checks, another file
            return {"key": key, "value": set_value(Path(scratch, file.name), key, value), "file": str(file)}
