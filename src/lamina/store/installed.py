"""Which hosts Lamina is installed into, and since when: `state/installed.json`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from lamina import errors
from lamina.formats.dates import parse_time, render_time
from lamina.store import files

INSTALLED = "state/installed.json"


class Installed(NamedTuple):
    """How Lamina is installed into one host."""

    since: datetime
    """UTC. Sessions that ended earlier are the matter of `lamina import`."""
    mode: str = ""
    """The host's own way (`plugin`, `settings`); "" where there is only one."""
    user: bool = True
    """Whether it is installed for the user."""
    projects: tuple[str, ...] = ()
    """The projects that it is installed into."""


def installed(root: Path) -> Mapping[str, Installed]:
    """Return host → how it is installed; a damaged record reads as what can be understood of it."""
    try:
        said = files.parse_json(files.read_text(root / INSTALLED))
    except (errors.LaminaError, ValueError):
        return {}
    hosts = said.get("hosts") if isinstance(said, dict) else None
    read = {name: _read(value) for name, value in hosts.items()} if isinstance(hosts, dict) else {}
    return {name: value for name, value in sorted(read.items()) if value is not None}


def save(root: Path, hosts: Mapping[str, Installed]) -> None:
    """Write the record, or remove it where no host is left."""
    path = root / INSTALLED
    if not hosts:
        files.remove(path)
        return
    from json import dumps

    told = {name: _told(value) for name, value in hosts.items()}
    files.write_text(path, dumps({"hosts": told}, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


def with_place(before: Installed | None, project: Path | None, *, at: datetime, mode: str) -> Installed:
    """Return the record of a host with one more place; `since` stays that of the first install."""
    since = at if before is None else before.since
    user = project is None or (before is not None and before.user)
    projects = set(before.projects if before else ()) | ({str(project)} if project else set())
    if project is not None and before is not None and before.user:
        mode = before.mode
    return Installed(since, mode, user, tuple(sorted(projects)))


def without_place(before: Installed, project: Path | None) -> Installed | None:
    """Return the record of a host with one place less, None if none is left."""
    user = before.user and project is not None
    projects = tuple(each for each in before.projects if each != str(project))
    return before._replace(user=user, projects=projects) if user or projects else None


def _told(value: Installed) -> dict[str, Any]:
    return {
        "since": render_time(value.since),
        "mode": value.mode,
        "user": value.user,
        "projects": list(value.projects),
    }


def _read(value: object) -> Installed | None:
    if not isinstance(value, dict) or not isinstance(value.get("since"), str):
        return None
    since = parse_time(value["since"])
    if since is None:
        return None
    mode, projects = value.get("mode"), value.get("projects")
    return Installed(
        since,
        mode if isinstance(mode, str) else "",
        value.get("user") is not False,
        tuple(_texts(projects) if isinstance(projects, list) else ()),
    )


def _texts(values: Iterable[object]) -> list[str]:
    return [value for value in values if isinstance(value, str)]
