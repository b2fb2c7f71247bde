"""Whether what was installed still stands: what `lamina doctor` tells of the hosts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lamina import errors
from lamina.hosts.setup import Edit, Say
from lamina.install import engine, record
from lamina.install.engine import Site
from lamina.install.plan import Change, changes
from lamina.live import program
from lamina.pipeline.doctor import Finding
from lamina.store.installed import Installed, installed

_PYTHON = re.compile(r"(?m)^python=(.+)$")


def findings(site: Site, *, fix: bool = False) -> list[Finding]:
    """Check the hosts that Lamina is installed into. With `fix`, `state/bin` is written anew."""
    known = installed(site.root)
    found = [*_commands(site, fix=fix)] if known else []
    for host, how in known.items():
        found += _guarded(site, host, how)
    for host in engine.hosts():
        if host not in known and _is_traced(site, host):
            found.append(
                Finding(
                    "warning",
                    f"{host}: entries of an earlier install stand in its settings",
                    f"`lamina uninstall {host}` takes them out, `lamina install {host}` makes them work",
                )
            )
    return found


def with_traces(site: Site) -> list[str]:
    """Return the hosts that Lamina is installed into, or that something of it is left in."""
    known = installed(site.root)
    return [
        host
        for host in engine.hosts()
        if host in known or record.is_there(site.root, host) or _is_traced(site, host)
    ]


def _commands(site: Site, *, fix: bool) -> Iterator[Finding]:
    """Check the commands that the hosts' settings name."""
    stale = program.stale(site.root)
    if stale and fix:
        program.write(site.root)
        yield Finding("ok", f"{program.hook(site.root).parent} was written anew")
        return
    hint = "`lamina doctor --fix` writes it anew"
    folder = program.hook(site.root).parent
    gone = [path.name for path in stale if not path.exists()]
    lost = _lost_python(site.root)
    if gone:
        yield Finding("error", f"{folder}: {', '.join(gone)} missing, so the hooks do nothing", hint)
    elif lost:
        yield Finding(
            "error", f"{folder} names a Python that is gone ({lost}), so the hooks do nothing", hint
        )
    elif stale:
        yield Finding("warning", f"{folder} is of another version of Lamina than this one", hint)


def _lost_python(root: Path) -> str:
    for path in (program.hook(root), program.lamina(root)):
        try:
            found = _PYTHON.search(path.read_text("utf-8"))
        except (OSError, ValueError):
            continue
        python = found[1].strip("'\"") if found else ""
        if python and not os.access(python, os.X_OK):
            return python
    return ""


def _guarded(site: Site, host: str, how: Installed) -> list[Finding]:
    try:
        return [*_host(site, host, how)]
    except errors.LaminaError as problem:
        return [Finding("error", f"{host}: {problem.message}", problem.hint)]


def _host(site: Site, host: str, how: Installed) -> Iterator[Finding]:
    places = [None] if how.user else []
    there = [Path(path) for path in how.projects if Path(path).is_dir()]
    faults = [fault for place in [*places, *there] for fault in _place(site, host, place)]
    if how.user and there and how.mode != "plugin":  # one plugin is loaded once, however often it is named
        told = ", ".join(map(str, there))
        faults.append(
            Finding(
                "warning",
                f"{host}: installed for the user and in {told}, so each event there is heard twice",
                f"in the project: `lamina uninstall {host} --project`",
            )
        )
    faults += _trust(site, host)
    yield from faults or [Finding("ok", f"{host}: installed {how.mode}".rstrip())]


def _place(site: Site, host: str, project: Path | None) -> Iterator[Finding]:
    """Compare what stands in the host's files with what an install would leave there."""
    name = f"{host} --project" if project else host
    again = f"`lamina install {name}` puts it right"
    changed = _changes(site, host, project)
    if not changed:
        return
    if not _changes(replace(site, recall=not site.recall), host, project):
        state = "on, but the host does not ask" if site.recall else "off, but the host still asks"
        yield Finding("warning", f"{host}: recall is {state} before edits and commands", again)
        return
    twice = [change for change in changed if not change.kept.edits and change.held.data is not None]
    told = ", ".join(str(change.file) for change in twice or changed)
    if twice:
        yield Finding("warning", f"{host}: registered twice, also in {told}", again)
    else:
        yield Finding("error", f"{host}: entries of Lamina are missing or changed in {told}", again)


def _changes(site: Site, host: str, project: Path | None) -> list[Change]:
    before = record.record_of(site.root, host, project)
    live = engine.live(host)
    mode = before.mode if before else engine.modes(live)[0]
    wanted = live.setup(site.where(host, project=project, mode=mode))
    others = engine.other_ways(site, live, mode, project)
    return [change for change in changes(wanted, others=others, before=before) if change.action != "none"]


def _is_traced(site: Site, host: str) -> bool:
    live = engine.live(host)
    edits: list[Edit] = [
        edit
        for mode in engine.modes(live)
        for edit in live.setup(site.where(host, mode=mode))
        if not isinstance(edit, Say)
    ]
    try:
        return any(change.action != "none" for change in changes([], others=edits))
    except errors.LaminaError:
        return False


def _trust(site: Site, host: str) -> Iterator[Finding]:
    """Tell what a host says by itself about hooks that wait for the person."""
    doubt = getattr(engine.live(host), "doubt", None)
    if doubt is not None and (told := doubt(site.home, site.env)):
        yield Finding("warning", f"{host}: {told}", "start it, type /hooks and trust Lamina's")
