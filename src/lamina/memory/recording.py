"""Stage 1 of a project's memory from where one stands: the body, the commits of today, the file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.formats.source import SessionRef
from lamina.pipeline.record.body import Body, parse_body
from lamina.pipeline.record.evidence import Commit
from lamina.pipeline.record.write import MOST_COMMITS, Recorded, Wanted
from lamina.pipeline.record.write import record as append
from lamina.store import files, locks, memoryfolder
from lamina.store.repository import find

if TYPE_CHECKING:
    from pathlib import Path

    from lamina.formats.note import Note
    from lamina.memory.opened import Opened

Json = dict[str, Any]

OWN = "state/records.json"
"""The records that this machine wrote: their real paths, the newest last."""
LATEST = "latest"
_LOCK = "state/records.lock"
_KEPT = 400


def record(  # noqa: PLR0913 - one for each word of the command
    opened: Opened,
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
    """Append a session to the project's record of today: from a body, or from a captured note.

    Without a body, only the commits of today are recorded. Raises BadInput, NoSuchFile for an unknown note,
    Undecided where several records of today are there.
    """
    from lamina.memory.projects import folder_of
    from lamina.pipeline.record.notes import body_of_note, recorded_until

    folder = folder_of(opened, project=project, memory_path=memory_path)
    source = ""
    if note is not None:
        found = _note(opened, note)
        after = recorded_until(memoryfolder.read_dailies(folder).data.values(), found)
        said = body_of_note(found, after=after)
        source = str(SessionRef(found.host, found.session, after + 1, found.last))
        if said.empty and after >= 0:
            return Recorded("known", os.fspath(folder.path)).as_json()
    else:
        said = parse_body(body) if body is not None else Body()
    if topic.strip():
        said = said.titled(topic)
    now = opened.clock()
    wanted = Wanted(said, _commits(folder.root, now) if commits else (), source, file)
    done = append(folder, wanted, now=now, own=_own(opened, folder.path), dry_run=dry_run)
    if done.status == "written":
        _remember(opened, done)
    return done.as_json()


def at_end(opened: Opened, host: str, session: str) -> Json | None:
    """Record a captured session that has ended, if the settings want that where it worked; None if not.

    The setting `record` counts as it is for that project: a `.lamina.toml` turns it on only once trusted.
    """
    from lamina.formats.note import note_name
    from lamina.store import notes

    found = notes.load(opened.store, note_name(host, session))
    if found is None or not found.note.cwd:
        return None
    place = opened.workspace_of(found.note.cwd)
    folder = None if place.site is None else place.site.top or place.site.root
    if folder is None or place.scope.key is None or not os.path.isdir(folder):  # noqa: PTH112 - answers False where pathlib raises
        return None
    if opened.own.with_project(place.project)["record"] != "on":
        return None
    return record(opened, note=found.name, project=folder)


def _commits(root: Path, now: datetime) -> list[Commit]:
    """Return the commits since local midnight, newest first; none without a repository."""
    from lamina.store.tracked import commits_about

    repository = find(root)
    top = repository.top if repository else None
    if top is None:
        return []
    midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    found = commits_about(top, midnight, most=5 * MOST_COMMITS)
    return [Commit(each.hash, each.subject, each.files) for each in found]


def _note(opened: Opened, name: str) -> Note:
    """Return a note by its name or a part of it, `latest` for the one captured last in this workspace."""
    from lamina.store import notes

    store = opened.reading(name)
    found = [each for each in notes.notes(store) if name in (LATEST, each.name) or name in each.name]
    if name == LATEST:
        found = [each for each in found if each.note.workspace in ("", opened.scope.name)]
        found.sort(key=lambda each: (each.note.captured is not None, each.note.captured))
    elif any(each.name == name for each in found):
        found = [each for each in found if each.name == name]
    if not found or (len(found) > 1 and name != LATEST):
        many = ", ".join(each.name for each in found[:5])
        raise errors.NoSuchFile(
            f"several notes are called like {name!r}: {many}" if found else f"there is no note {name!r}",
            "`lamina log` names the sessions; `latest` is the last one of this project",
        )
    return found[-1].note


def _own(opened: Opened, folder: Path) -> frozenset[str]:
    """Return the names of the folder's files that this machine wrote."""
    here = os.fspath(folder)
    return frozenset(os.path.basename(path) for path in _listed(opened.root) if os.path.dirname(path) == here)  # noqa: PTH119, PTH120


def _remember(opened: Opened, done: Recorded) -> None:
    """Note the file as ours, where there is a store; a store that can't be written stops nothing."""
    if not opened.exists:
        return
    try:
        with locks.lock(opened.root / _LOCK):
            kept = [path for path in _listed(opened.root) if path != done.file][-_KEPT:]
            text = json.dumps({"files": [*kept, done.file]}, ensure_ascii=False, indent=1) + "\n"
            files.write_text(opened.root / OWN, text)
    except errors.LaminaError:
        return


def _listed(root: Path) -> Iterator[str]:
    try:
        said = files.parse_json(files.read_optional(root / OWN) or "{}")
    except (errors.LaminaError, ValueError):
        return
    listed = said.get("files") if isinstance(said, dict) else None
    yield from (path for path in (listed if isinstance(listed, list) else []) if isinstance(path, str))
