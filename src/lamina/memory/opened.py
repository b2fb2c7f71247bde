"""The parts of one open memory.

Each is made when it is first needed, so that a cold search opens no more than it reads.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from lamina import errors
from lamina.settings import Settings
from lamina.store.identity import Workspace, resolve
from lamina.store.registry import Registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date, datetime

    from lamina.embed.base import Embedder
    from lamina.formats.event import Session
    from lamina.formats.scope import Scope
    from lamina.index.base import Changes
    from lamina.index.embedded import Embedded
    from lamina.index.engine import Index
    from lamina.index.source import StoreSource
    from lamina.models.base import Model
    from lamina.models.lent import Function
    from lamina.pipeline.asking import Climber
    from lamina.pipeline.filters import Asked
    from lamina.pipeline.relevance import Limits
    from lamina.pipeline.status import Cadence
    from lamina.store.projects import Known
    from lamina.store.store import Located, Store


class Opened:
    """A store's folder and what looks at it: environment, home, the folder we stand in, the clock.

    `explicit` names the workspace in place of the folder's own.
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
        self.own = own
        """The settings without those of the project."""
        self.env = env
        self.home = home
        self.cwd = cwd
        self.explicit = explicit
        self.clock = clock
        self.lent: Function | Model | None = None
        """A model that the caller lends: then it alone is asked."""

    @property
    def exists(self) -> bool:
        """Whether there is a store at the root; a damaged memory.json counts, so that it is told."""
        return os.path.lexists(self.root / "memory.json")

    @cached_property
    def store(self) -> Store:
        """The store; raises NoStore where there is none yet."""
        from lamina.store.store import Store

        return Store.open(self.root)

    @cached_property
    def workspace(self) -> Workspace:
        """The workspace that this memory is used from."""
        return self.workspace_of(self.cwd, explicit=self.explicit)

    @cached_property
    def settings(self) -> Settings:
        """The settings, with what the project here may say."""
        return self.own.with_project(self.workspace.project)

    @property
    def scope(self) -> Scope:
        """The scope that writes go to by default."""
        return self.workspace.scope

    @property
    def today(self) -> date:
        """The UTC day."""
        return self.clock().date()

    @cached_property
    def embedded(self) -> Embedded:
        """The search index, by words alone; `refresh` brings it up to date."""
        from lamina.index.embedded import Embedded
        from lamina.index.source import index_home

        return Embedded(index_home(self.root, self.env))

    @property
    def index(self) -> Index:
        """The search index as every engine's."""
        return self.embedded

    @cached_property
    def embedder(self) -> Embedder | None:
        """What makes vectors on this machine, None where words are enough; raises EmbedderUnavailable."""
        from lamina.embed.choose import choose

        cache = self.env.get("XDG_CACHE_HOME") or self.home / ".cache"
        return choose(self.own["embedder"], env=self.env, cache=Path(cache) / "lamina")

    @cached_property
    def asker(self) -> Climber | None:
        """Who can put a question to a model, None where the person named none."""
        from lamina.memory.models import asker

        return asker(self)

    @cached_property
    def hybrid(self) -> Embedded:
        """The search index with its vectors, if there is an embedder."""
        from lamina.index.embedded import Embedded
        from lamina.index.source import index_home

        return Embedded(index_home(self.root, self.env), embedder=self.embedder)

    def lend(self, index: Embedded, embedder: Embedder | None) -> None:
        """Use an index that somebody else keeps open, for words and vectors alike."""
        self.__dict__ |= {"embedded": index, "hybrid": index, "embedder": embedder}

    def close(self) -> None:
        """Close the index, if it was opened."""
        for name in ("embedded", "hybrid"):
            index = self.__dict__.pop(name, None)
            if index is not None:
                index.close()

    def refresh(self) -> Changes:
        """Bring the index up to date with the files."""
        return self.index.refresh(self.source)

    @property
    def source(self) -> StoreSource:
        """What the index reads: the store, and the digests of projects, of the one here too."""
        from lamina.index.source import StoreSource

        return StoreSource(self.root, self.projects)

    @property
    def projects(self) -> tuple[Known, ...]:
        """The digests of the project that one stands in, noted in the store's `state/` from now on."""
        if not self.exists or not any(self._may_hold(folder) for folder in self.standing):
            return ()
        from lamina.memory.projects import meet

        return meet(self)

    @property
    def standing(self) -> tuple[str, ...]:
        """The folders that may be the project's root: the one that we stand in, and the top around it."""
        if self.cwd is None:
            return ()
        site = self.workspace.site
        top = () if site is None else (os.fspath(site.top or site.root),)
        return tuple(dict.fromkeys((os.fspath(self.cwd), *top)))

    def _may_hold(self, folder: str) -> bool:
        """Tell by a look or two whether a project's root may have a digest; most folders have none."""
        if os.path.lexists(f"{folder}/memory/digest.md"):
            return True
        found = self.workspace.project
        if found is not None and "memory_path" in found.values:
            return True
        return any(_declares(f"{folder}/{name}") for name in ("AGENTS.md", "CLAUDE.md"))

    @cached_property
    def branch(self) -> str:
        """The branch checked out here, "" for none; what was learnt on another is not shown."""
        if self.cwd is None or self.workspace.common_dir is None:
            return ""
        from lamina.store.repository import current_branch

        return current_branch(self.cwd) or ""

    def workspace_of(
        self, folder: str | os.PathLike[str] | None, *, explicit: str | None = None, remote: str | None = None
    ) -> Workspace:
        """Return the workspace of a folder, known yet or not; `remote` counts for a folder that is gone."""
        return resolve(
            folder if folder is None else Path(folder),
            registry=Registry.load(self.root),
            env=self.env,
            home=self.home,
            root_commits=root_commits,
            explicit=explicit,
            transcript_remote=remote,
        )

    def warnings(self) -> tuple[str, ...]:
        """Tell what of the settings, the project's file and the store could not be used."""
        told = [*self.settings.warnings, *self.workspace.warnings]
        schema = self._schema()
        if schema:
            told.append(f"{self.root} was written by a newer Lamina (schema {schema}); it is only read here")
        return tuple(dict.fromkeys(told))

    def reading(self, id: str) -> Store:
        """Return the store to look an entry up in; raises NoEntry where there is no store."""
        if not self.exists:
            raise errors.NoEntry(
                f"no entry has the id {id!r}: there is no store at {self.root}", "`lamina import` makes one"
            )
        return self.store

    def chosen(self, filters: Asked, *, branch: str | None) -> list[Located]:
        """Return the entries that the filters let through; the store's problems are those of this listing.

        What was learnt on another branch than `branch` is left out; None leaves nothing out.
        """
        from lamina.pipeline import browse
        from lamina.pipeline.filters import parse_filters

        chosen = parse_filters(self.scope, self.today, branch=branch, **filters)
        if not self.exists:
            return []
        self.store.problems.clear()
        return list(browse.choose(self.store, chosen))

    def session_workspace(self, session: Session) -> Workspace:
        """Return the workspace that a session worked in; raises Refused where it may not be captured."""
        from lamina.settings.capture import capture_off
        from lamina.store.off import is_off

        # LAMINA_WORKSPACE speaks for this process; the session ran in another one.
        found = resolve(
            session.cwd or None,
            registry=Registry.load(self.root),
            env={},
            home=self.home,
            root_commits=root_commits,
            explicit=self.explicit,
            transcript_remote=session.remote or None,
        )
        if is_off(self.root, session.host, session.id):
            raise errors.Refused(
                "capture is off: Lamina was switched off in the process of that session", "it stays out"
            )
        settings = self.own.with_project(found.project)
        why = capture_off(settings, session.cwd or None, env=self.env, now=self.clock())
        if why:
            raise errors.Refused(f"capture is off: {why}", "`lamina config` shows the settings")
        return found

    def capture_allowed(self) -> None:
        """Raise Refused while capture is paused or switched off for this machine."""
        from lamina.settings.capture import capture_off

        why = capture_off(self.own, None, env=self.env, now=self.clock())
        if why:
            hint = "`lamina resume` starts it again" if self.paused() else "take that setting away first"
            raise errors.Refused(f"capture is off: {why}", hint)

    def capture_off(self) -> str | None:
        """Say why sessions in this folder are not captured, None if they are."""
        from lamina.settings.capture import capture_off

        return capture_off(self.settings, self.cwd, env=self.env, now=self.clock())

    def limits(self) -> Limits:
        """Return how much of a session is looked at."""
        from lamina.pipeline.relevance import Limits

        say = self.settings
        return Limits(
            user_turns=say["note_turns"],
            gists=say["note_gists"],
            chars=say["note_message_chars"],
            bytes=say["note_bytes"],
            bullets=say["note_bullets"],
            signal=say["note_signal_chars"],
            attempts=say["note_attempts"],
        )

    def cadence(self) -> Cadence:
        """Return when work is due."""
        from lamina.pipeline.status import Cadence

        say = self.settings
        return Cadence(say["consolidate_interval_s"], say["consolidate_pending"], say["commit_debounce_s"])

    def paused(self) -> bool:
        """Tell whether the person has paused capture."""
        from lamina.store import pause

        return pause.paused(self.root, now=self.clock()) is not None

    def _schema(self) -> int:
        """Return the schema of a store that is newer than this program, else 0.

        The store itself stays unopened.
        """
        from lamina.store.layout import SCHEMA

        schema = Registry.load(self.root).schema
        return schema if schema > SCHEMA else 0


def open_parts(
    root: str | os.PathLike[str] | None,
    *,
    workspace: str | None,
    cwd: str | os.PathLike[str] | None,
    env: Mapping[str, str] | None,
    clock: Callable[[], datetime],
) -> Opened:
    """Find root, home and settings; what is not given comes from the process."""
    env = os.environ if env is None else env
    home = Path(env.get("HOME") or _home())
    folder = _working_directory() if cwd is None else Path(os.path.abspath(cwd))
    flags = {"root": os.path.abspath(root)} if root else {}
    own = Settings.load(env=env, home=home, flags=flags)
    return Opened(own, env=env, home=home, cwd=folder, explicit=workspace, clock=clock)


def root_commits(folder: Path) -> tuple[str, ...]:
    """Return the root commits of a repository, asked of git."""
    from lamina.store import git

    return tuple(sorted(git.root_commits(folder)))


def _declares(path: str) -> bool:
    """Tell whether an instruction file may say where the memory lies."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs a cold search
            return b"emory path" in file.read(1 << 18).lower()
    except OSError:
        return False


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        raise errors.NoSuchFile("there is no home folder for this user", "set HOME to a folder") from None


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None  # it was removed: global
