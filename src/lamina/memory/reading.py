"""Reading: everything that looks at a store and writes no memory."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from lamina.memory.opened import Opened, open_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date
    from typing import Any, Self, Unpack

    from lamina.formats.scope import Scope
    from lamina.models.base import Model
    from lamina.models.lent import Function
    from lamina.pipeline.filters import Asked
    from lamina.pipeline.recall import Found
    from lamina.settings import Settings
    from lamina.store.files import Problem
    from lamina.store.identity import Workspace
    from lamina.store.store import Store

    Json = dict[str, Any]
    Rows = list[Json]
    Differences = list[str]


def utc_now() -> datetime:
    """Return the time now, in UTC and whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


class Reading:
    """A store as seen from one workspace, for whoever may look but not write.

    Nothing here creates a store; the search index alone is brought up to date on the way.
    """

    def __init__(self, opened: Opened) -> None:
        self._at = opened

    @classmethod
    def open(
        cls,
        root: str | os.PathLike[str] | None = None,
        *,
        workspace: str | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        clock: Callable[[], datetime] = utc_now,
        model: Function | Model | None = None,
    ) -> Self:
        """Open the memory at `root` (default: the setting `root`) as seen from `cwd`.

        `workspace` names the workspace in place of the one that `cwd` belongs to. A `model` that is lent, a
        function from a prompt to text or a model, is asked in place of those that the settings name.
        """
        opened = open_parts(root, workspace=workspace, cwd=cwd, env=env, clock=clock)
        opened.lent = model
        return cls(opened)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index's file; the memory can be used again."""
        self._at.close()

    # -- where we are

    @property
    def root(self) -> Path:
        """The store's folder, whether it is there or not."""
        return self._at.root

    @property
    def exists(self) -> bool:
        """Whether there is a store at the root."""
        return self._at.exists

    @property
    def store(self) -> Store:
        """The store; raises NoStore where there is none yet."""
        return self._at.store

    @property
    def settings(self) -> Settings:
        """The settings that hold here."""
        return self._at.settings

    @property
    def workspace(self) -> Workspace:
        """The workspace that this memory is used from."""
        return self._at.workspace

    @property
    def scope(self) -> Scope:
        """The scope that writes go to by default."""
        return self._at.scope

    @property
    def branch(self) -> str:
        """The branch that is checked out here, "" for none; what was learnt on another is not shown."""
        return self._at.branch

    @property
    def warnings(self) -> Sequence[str]:
        """What of the settings, the project's file and the store could not be used; tell it once."""
        return self._at.warnings()

    def workspace_of(
        self, folder: str | os.PathLike[str] | None, *, explicit: str | None = None, remote: str | None = None
    ) -> Workspace:
        """Return the workspace of a folder, whether it is known yet or not; nothing is written.

        `remote` is the origin that a transcript names, for a folder that is gone.
        """
        return self._at.workspace_of(folder, explicit=explicit, remote=remote)

    def resolve_key(self, folder: str | os.PathLike[str]) -> str | None:
        """Return the key of a folder's workspace, None for the global scope."""
        return self.workspace_of(folder).key

    # -- finding

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        vectors: bool = False,
        embed_s: float = 2.0,
        **filters: Unpack[Asked],
    ) -> Found:
        """Find entries by words, best first.

        With `vectors` by their meaning as well: what has no vector yet gets one first, for `embed_s` seconds
        at most. `engines` of the result says what ran, `notes` why something did not.
        No text of a query raises but a blank one (UsageError); an unknown name in a filter does.
        """
        from lamina.pipeline import recall
        from lamina.pipeline.filters import question

        asked = question(
            query, self.scope, self._at.today, limit=limit, filters=filters, branch=self._at.branch
        )
        if not self.exists:
            return recall.Found(query, ("words",), ())
        if vectors:
            from lamina.memory import finding

            return finding.search(self._at, asked, within_s=embed_s)
        self._at.refresh()
        return recall.search(self._at.index, asked, today=self._at.today, here=self.scope)

    def rerank(self, found: Found) -> Found:
        """Let a model reorder what a search found; on any doubt it comes back as it was."""
        from lamina.memory import refreshing

        return refreshing.rerank(self._at, found)

    def list(self, *, limit: int | None = None, **filters: Unpack[Asked]) -> tuple[Rows, Sequence[Problem]]:
        """Return entries, newest first, and what was wrong with single files."""
        from lamina.pipeline import browse

        entries = browse.newest_first(self._at.chosen(filters, branch=self._at.branch))
        problems = tuple(self.store.problems) if self.exists else ()
        return [browse.item(each, self._at.today) for each in entries[:limit]], problems

    def show(self, id: str) -> Json:
        """Return one entry with all it holds, by its id, an alias or `file:line`; raises NoEntry."""
        from lamina.pipeline import browse

        return browse.whole(browse.found(self._at.reading(id), id), self._at.today)

    def why(self, id: str) -> Json:
        """Return the chain from an entry back to where it came from; raises NoEntry."""
        from lamina.pipeline import browse
        from lamina.pipeline.why import why

        located = browse.found(self._at.reading(id), id)
        return {"id": located.entry.id, "heading": located.entry.heading, "chain": why(self.store, located)}

    def log(self, *, since: str | date | None = None, limit: int = 20) -> Rows:
        """Return what was learnt, by session, newest first, in every scope."""
        from lamina.pipeline import browse

        at = self._at
        return browse.learnt(at.chosen({"scope": "all", "since": since}, branch=at.branch), limit)

    def card(self, *, budget: int | None = None) -> str:
        """Return the context block for a new session here; empty where there is no store."""
        from lamina.pipeline.card import card

        if not self.exists:
            return ""
        budget = budget or self.settings["card_chars"]
        return card(self.store, self.scope, today=self._at.today, budget=budget, branch=self._at.branch)

    def topics(self) -> Sequence[tuple[str, str, str]]:
        """Return the topics of this workspace and the global scope: `global` or the key, layer, slug."""
        from lamina.memory import shelves

        return list(shelves.topics(self._at))

    def topic(self, scope: str, layer: str, slug: str) -> str:
        """Return the file of one topic; raises NoSuchFile."""
        from lamina.memory import shelves

        return shelves.topic(self._at, scope, layer, slug)

    def checkpoint_text(self) -> str | None:
        """Return the checkpoint that stands in this project, None without one."""
        from lamina.memory import shelves

        return shelves.checkpoint(self._at)

    # -- what is going on

    def state(self) -> Json:
        """Return the repository's state, section by section, with grades."""
        from lamina.pipeline.current import show_state

        return show_state(self.store if self.exists else None, self.scope, self._at.clock())

    def working(self) -> Json:
        """Return what the agent is in the middle of here."""
        from lamina.pipeline.current import show_working

        return show_working(self.store if self.exists else None, self.scope, self._at.clock())

    def pending(self) -> Sequence[str]:
        """Return the names of the notes that wait for consolidation."""
        from lamina.store import notes

        return [each.name for each in notes.pending(self.store)] if self.exists else []

    def status(self) -> Json:
        """Return what the store holds, what waits and what is due."""
        from lamina.memory import chronicle, models
        from lamina.pipeline import status
        from lamina.store.installed import installed

        here = {
            "workspace": self.scope.name,
            "paused": self._at.paused(),
            "capture_off": self._at.capture_off(),
            "models": models.state(self._at),
            "hosts": list(installed(self.root)),
        }
        if not self.exists:
            return status.empty(self.root) | here | {"vectors": self.vectors()}
        facts = status.status(self.store, self._at.clock(), self._at.cadence())
        facts["due"] += ["history"] if chronicle.is_due(self._at) else []
        return facts | here | {"vectors": self.vectors()}

    def capture_off(self) -> str | None:
        """Say why sessions of this folder are not captured now, None if they are."""
        return self._at.capture_off()

    def vectors(self) -> Json:
        """Return the embedder's name, how many memories have a vector of it, and how many have none."""
        from lamina.memory import finding

        return finding.state(self._at)

    @property
    def standpoint(self) -> Json:
        """What another process must know to see the store as this memory does."""
        names = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
        at = self._at
        return {
            "root": str(at.root),
            "cwd": None if at.cwd is None else str(at.cwd),
            "workspace": at.explicit,
            "env": {
                name: value
                for name, value in at.env.items()
                if (name.startswith("LAMINA_") and not name.endswith("_TOKEN")) or name in names
            },
        }

    def check_index(self) -> Differences:
        """Bring the index up to date and return its differences to the files; empty when they agree."""
        self._at.refresh()
        return self._at.index.check(self._at.source)

    # -- workspaces and settings

    def workspaces(self) -> Rows:
        """Return the known workspaces: remotes, folders on this machine, number of entries."""
        from lamina.pipeline.spaces import known

        return known(self.store, current=self.scope) if self.exists else []

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

    def models(self) -> Json:
        """Return the models that were named and those found on this machine now, and how each did lately.

        Looks for keys, programs and running endpoints; sends no prompt.
        """
        from lamina.memory import models

        return models.listing(self._at)

    def config_value(self, key: str) -> Json:
        """Return one setting; raises BadSetting for an unknown one."""
        value = self.settings.value(key)
        return {"key": key, "value": self.settings.shown(key), "origin": value.origin}
