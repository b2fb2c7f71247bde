"""What is true right now: `state.md` of the repository and `working.md` of the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.errors import UnknownScope
from lamina.formats import state as states
from lamina.formats import working as workings
from lamina.formats.dates import render_time
from lamina.formats.freshness import state_freshness, working_freshness
from lamina.pipeline.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from lamina.formats.scope import Scope
    from lamina.store.store import Store
    from lamina.store.write import Writing

    Register = Callable[[Writing], Scope] | None


def show_state(store: Store | None, scope: Scope, now: datetime) -> dict[str, Any]:
    """Return the sections of the workspace's state, each with its grade and age."""
    rel, text = _read(store, scope, "state")
    sections: list[dict[str, Any]] = []
    for section in states.parse_state(text).sections:
        fresh = state_freshness(section.verified, now)
        sections.append(
            {
                "title": section.title,
                "text": section.text,
                "verified": render_time(section.verified) if section.verified else None,
                "grade": fresh.grade,
                "age_days": fresh.age_days,
            }
        )
    return {"file": rel, "sections": sections}


def show_working(store: Store | None, scope: Scope, now: datetime) -> dict[str, Any]:
    """Return the agent's own head for the workspace, with its grade; an empty text means not started."""
    rel, text = _read(store, scope, "working")
    working = workings.parse_working(text)
    fresh = working_freshness(working.updated, now)
    return {
        "file": rel,
        "text": text if working.started else "",
        "grade": fresh.grade if working.started else "not started",
    }


def write_state(  # noqa: PLR0913 - one for each word of the command
    store: Store,
    scope: Scope,
    section: str,
    text: str,
    now: datetime,
    *,
    dry_run: bool = False,
    register: Register = None,
) -> dict[str, Any]:
    """Replace one section; the others keep their times."""
    title, clean = redact(section).text, redact(text).text

    def change(old: str | None) -> str:
        return states.render_state(states.with_section(states.parse_state(old or ""), title, clean, now))

    rel = _edit(store, scope, "state", change, now, dry_run=dry_run, register=register)
    return {"file": rel, "section": title, "status": "written"}


def write_working(  # noqa: PLR0913 - one for each word of the command
    store: Store,
    scope: Scope,
    now: datetime,
    *,
    section: str | None = None,
    text: str = "",
    activity: str | None = None,
    clear_activity: bool = False,
    dry_run: bool = False,
    register: Register = None,
) -> dict[str, Any]:
    """Replace a section, add a note to the activity, or empty the activity; in one write."""

    def change(old: str | None) -> str:
        working = workings.parse_working(old or "")
        if clear_activity:
            working = workings.without_activity(working)
        if section is not None:
            working = workings.with_section(working, redact(section).text, redact(text).text, now)
        if activity is not None:
            working = workings.with_activity(working, redact(activity).text, now)
        return workings.render_working(working)

    rel = _edit(store, scope, "working", change, now, dry_run=dry_run, register=register)
    return {"file": rel, "status": "written"}


def _read(store: Store | None, scope: Scope, layer: str) -> tuple[str, str]:
    """Return the file's path in the store and its text, both empty where there is none."""
    rel = f"{_workspace(scope, layer).folder}/{layer}.md"
    text = store.text(rel) if store else None
    return (rel if text is not None else "", text or "")


def _edit(  # noqa: PLR0913 - one for each word of the command
    store: Store,
    scope: Scope,
    layer: str,
    change: Callable[[str | None], str],
    now: datetime,
    *,
    dry_run: bool,
    register: Register,
) -> str:
    _workspace(scope, layer)
    with store.writing(label=layer, at=now, dry_run=dry_run) as batch:
        rel = f"{(register(batch) if register else scope).folder}/{layer}.md"
        batch.edit(rel, change)
    return rel


def _workspace(scope: Scope, layer: str) -> Scope:
    if scope.key is None:
        raise UnknownScope(f"{layer} belongs to a workspace", "go to its folder, or give --workspace KEY")
    return scope
