"""A store and a machine in a temporary folder, as a case describes them, with a clock that stands still."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from lamina.errors import GitFailed, NoSuchFile
from lamina.evaluation.behaviour.cases import FOLDERS, STEPS, Case, Table, names_of, verb_of
from lamina.formats.entry import Topic, new_entry, new_topic, render_topic
from lamina.formats.ids import EntryId
from lamina.formats.layers import layer_named
from lamina.formats.scope import GLOBAL, Scope, parse_scope
from lamina.formats.slug import heading_of, topic_slug
from lamina.hosts.render import Said, render_claude, session_uuid
from lamina.memory import Memory
from lamina.store import git

_NOON = time(12, tzinfo=UTC)
_WRITING = ("heading", "layer", "scope", "topic", "importance", "volatility", "source")
_ANSWER = "Understood, that is how it is done here from now on. "
_NOTE = "A note that was written in {}."


class Scene:
    """What one case happens in. Everything lies below `base`; `names` maps the case's names to ids."""

    def __init__(self, base: Path, case: Case) -> None:
        self.base = Path(os.path.realpath(base))
        self.home = self.base / "home"
        self.root = self.home / ".lamina"
        self.now = datetime.combine(case.today, _NOON)
        self.here = case.here
        self.names: dict[str, str] = {}
        self.told: list[str] = []
        self.home.mkdir()
        if case.entries:
            self._write_store(case)
        self.memory = self.opened(self.home / "work" / case.here, explicit=case.here)

    def opened(self, folder: Path, *, explicit: str = "") -> Memory:
        """Open the memory as seen from a folder; `explicit` names the workspace in its place."""
        env = {"HOME": str(self.home)}
        named = None if explicit in ("", GLOBAL) else explicit
        cwd = self.home if explicit == GLOBAL else folder
        return Memory.open(self.root, workspace=named, cwd=cwd, env=env, clock=lambda: self.now)

    def name_of(self, id_: str) -> str:
        """Return what the case calls an entry, else its id."""
        return next((name for name, known in self.names.items() if known == id_), id_)

    def scope_of(self, said: str) -> Scope:
        """Return the scope that a case means; "" is the workspace it stands in."""
        if said:
            return parse_scope(said)
        return Scope(None if self.here == GLOBAL else self.here)

    # -- the store as files

    def _write_store(self, case: Case) -> None:
        entries = [
            (name, {**entry, "text": entry["text"].replace("{n}", str(n))})
            for entry in case.entries
            for n, name in enumerate(names_of(entry), 1)
        ]
        places = [(self.scope_of(entry.get("scope", "")), _layer(entry)) for _, entry in entries]
        counted: Counter[tuple[Scope, str]] = Counter()
        for (name, _), (scope, layer) in zip(entries, places, strict=True):
            counted[scope, layer] += 1
            abbreviation = layer_named(layer).abbreviation
            self.names[name] = str(EntryId(scope.id_key, abbreviation, counted[scope, layer]))
        files: dict[str, Topic] = {}
        for (name, entry), (scope, layer) in zip(entries, places, strict=True):
            title = entry.get("topic") or _heading(entry)
            path = f"{scope.folder}/{layer}/{topic_slug(title)}.md"
            files[path] = self._added(files.get(path) or new_topic(title), name, entry, case.today)
        for rel, topic in files.items():
            _save(self.root / rel, render_topic(topic))
        keys = sorted({scope.key for scope, _ in counted if scope.key is not None})
        config = {"schemaVersion": 2, "workspaces": {key: {"title": key} for key in keys}}
        _save(self.root / "memory.json", json.dumps(config, indent=2) + "\n")

    def _added(self, topic: Topic, name: str, entry: Table, today: date) -> Topic:
        made = new_entry(
            _heading(entry),
            entry["text"],
            id=self.names[name],
            date=entry.get("date", today),
            importance=entry.get("importance"),
            source=entry.get("source", "user"),
            volatility=entry.get("volatility"),
            verified=entry.get("verified"),
            valid_until=entry.get("until"),
            trust="candidate" if entry.get("trust") == "candidate" else None,
            status=self._status(entry, today),
        )
        return topic.adding(made)

    def _status(self, entry: Table, today: date) -> str:
        if "by" in entry:
            return f"superseded by {self.names[entry['by']]}"
        return f"forgotten {today}" if entry.get("trust") == "forgotten" else ""

    # -- what is done

    def play(self, step: Table) -> None:
        """Do one step; what came out otherwise than the step says is told."""
        doing: Mapping[str, Callable[[Table], object]] = {
            "remember": self._remember,
            "codebase": self._codebase,
            "state": lambda step: self.memory.set_state(step["state"], step["text"]),
            "working": lambda step: self.memory.set_working(section=step["working"], text=step["text"]),
            "edit": self._edit,
            "forget": self._forget,
            "forget_found": self._forget_found,
            "forget_session": lambda step: self.memory.forget(session=step["forget_session"]),
            "release": lambda step: self.memory.forget(self._ids(step["release"]), undo=True),
            "undo": lambda _: self.memory.undo(),
            "import": self._import,
            "days": self._days,
        }
        doing[verb_of(step, STEPS)](step)

    def _ids(self, names: list[str]) -> list[str]:
        return [self.names[name] for name in names]

    def _remember(self, step: Table) -> None:
        said: dict[str, Any] = {key: step[key] for key in _WRITING if key in step}
        until = str(step["until"]) if "until" in step else None
        done = self.memory.remember(step["remember"], until=until, **said)
        wanted = step.get("status", "written")
        if done.status != wanted:
            self.told.append(f"remember {step['remember']!r}: expected {wanted}, found {done.status}")
        if "as" in step:
            self.names[step["as"]] = done.id

    def _codebase(self, step: Table) -> None:
        done = self.memory.codebase(step["codebase"], step["text"])
        if "as" in step:
            self.names[step["as"]] = done.id

    def _edit(self, step: Table) -> None:
        fields = {key: str(value) for key, value in step.get("fields", {}).items()}
        self.memory.edit(self.names[step["edit"]], text=step.get("text"), fields=fields)

    def _forget(self, step: Table) -> None:
        self.memory.forget(
            self._ids(step["forget"]), purge=step.get("purge", False), reason=step.get("reason", "")
        )

    def _forget_found(self, step: Table) -> None:
        ids = [hit.id for hit in self.memory.search(step["forget_found"]).hits]
        if not ids:
            self.told.append(f"forget what {step['forget_found']!r} finds: expected a hit, found none")
            return
        self.memory.forget(ids)

    def _import(self, step: Table) -> None:
        """Leave a transcript in which a person said these things, and import it."""
        id_ = session_uuid(f"behaviour-{step.get('session', 1)}")
        turns = [
            turn for said in step["import"] for turn in (Said("user", said), Said("assistant", _ANSWER * 12))
        ]
        folder = self.home / "work" / self.here
        folder.mkdir(parents=True, exist_ok=True)
        path = self.base / f"{id_}.jsonl"
        _save(path, render_claude(id_, turns, cwd=str(folder), started=self.now))
        self.memory.import_sessions([path])

    def _days(self, step: Table) -> None:
        self.now += timedelta(days=step["days"])

    # -- the folders of a machine

    def arrange(self, step: Table) -> None:
        """Do one thing to the machine's folders."""
        doing: Mapping[str, Callable[[Table], object]] = {
            "repository": self._repository,
            "worktree": self._worktree,
            "folder": lambda step: self.at(step["folder"]).mkdir(parents=True, exist_ok=True),
            "file": lambda step: _save(self.at(step["file"]), step.get("text", "")),
            "rename": self._rename,
            "remove": lambda step: shutil.rmtree(self.at(step["remove"])),
            "origin": self._origin,
            "write": self._note,
            "associate": lambda step: self.memory.associate(step["associate"], self.at(step["at"])),
        }
        doing[verb_of(step, FOLDERS)](step)

    def at(self, path: str) -> Path:
        """Return a path of the case on this machine; raises NoSuchFile for one that leaves the home."""
        found = Path(os.path.normpath(self.home / path))
        if not found.is_relative_to(self.home):
            raise NoSuchFile(f"{path} leaves the home folder", "write it relative to the home folder")
        return found

    def _repository(self, step: Table) -> None:
        path = self.at(step["repository"])
        path.mkdir(parents=True, exist_ok=True)
        self._git(path, "init", "--quiet", "--template=")
        if step.get("commit", False):
            self._git(path, "commit", "--quiet", "--allow-empty", "-m", f"first in {step['repository']}")
        if "origin" in step:
            self._git(path, "config", "remote.origin.url", step["origin"])

    def _worktree(self, step: Table) -> None:
        path = self.at(step["worktree"])
        path.parent.mkdir(parents=True, exist_ok=True)
        self._git(self.at(step["of"]), "worktree", "add", "--quiet", "-b", path.name, str(path))

    def _rename(self, step: Table) -> None:
        to = self.at(step["to"])
        to.parent.mkdir(parents=True, exist_ok=True)
        self.at(step["rename"]).rename(to)

    def _origin(self, step: Table) -> None:
        self._git(self.at(step["at"]), "config", "remote.origin.url", step["origin"])

    def _note(self, step: Table) -> None:
        with self.opened(self.at(step["write"])) as memory:
            self.names[step["write"]] = memory.remember(_NOTE.format(step["write"] or "the home folder")).id

    def _git(self, folder: Path, *args: str) -> None:
        who = {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (("NAME", "T"), ("EMAIL", "t@example.org"), ("DATE", "2026-11-30T12:00:00Z"))
        }
        env = {**who, "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        done = git.run(folder, args, env=env, options=("init.defaultBranch=main",))
        if not done.ok:
            raise GitFailed(f"git {args[0]} failed: {done.err.strip()}", "the behaviour suite needs git")

    def close(self) -> None:
        """Let go of the index."""
        with suppress(OSError):
            self.memory.close()


def _layer(entry: Table) -> str:
    return layer_named(entry.get("layer", "semantic")).name


def _heading(entry: Table) -> str:
    return str(entry.get("heading") or heading_of(entry["text"]))


def _save(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
