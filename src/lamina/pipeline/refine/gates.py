"""What stands in the way of a refine, in the order in which it is asked (the seed's section 1)."""

from __future__ import annotations

from datetime import date

from lamina import errors
from lamina.formats.digest import Digest
from lamina.formats.origin import daily_day

NO_STATE, NO_SECTIONS, NOTHING_NEW = "no_state", "no_sections", "nothing_new"
RETRY, YOUNG, APPROVAL = "retry", "young", "approval"
YOUNG_DAYS, YOUNG_BULLETS = 7, 10
FORCED = frozenset({NOTHING_NEW, YOUNG})
"""What `--force` passes."""


def gates(digest: Digest, name: str, *, today: date, canonical: bool) -> tuple[str, ...]:
    """List what stands in the way. `name` is the file's; `retry` means that only the core is asked again.

    A digest that was refined and got a section since is open again, also when no later day was considered.
    """
    found: list[str] = []
    if digest.fatal is not None or digest.state is None or daily_day(name) is not None:
        found.append(NO_STATE)
    refined = digest.refine is not None
    if not digest.sections and not refined:
        found.append(NO_SECTIONS)
    closed = refined and not digest.sections and digest.refined_through == digest.processed
    if closed:
        found.append(RETRY if digest.pending else NOTHING_NEW)
    if not refined and len(digest.sections) == 1 and _is_young(digest, today):
        found.append(YOUNG)
    if canonical and RETRY not in found:
        found.append(APPROVAL)
    return tuple(found)


def require(found: tuple[str, ...], digest: Digest, name: str, *, force: bool) -> None:
    """Raise Undecided for the first gate that stops; approval is asked for later."""
    for gate in found:
        if gate in (RETRY, APPROVAL) or (force and gate in FORCED):
            continue
        message, hint, choices = _told(gate, digest, name)
        raise errors.Undecided(message, hint, choices=choices)


def _told(gate: str, digest: Digest, name: str) -> tuple[str, str, tuple[str, ...]]:
    match gate:
        case "no_state":
            problem = digest.fatal
            where = (
                f"{name}:{problem.line}: {problem.message}"
                if problem
                else f"{name}: no state marker on line 1"
            )
            if daily_day(name) is not None:
                where = f"{name}: is a daily record, not a digest"
            return where, "nothing was written", ("repair the file by hand", "lamina digest")
        case "no_sections":
            return f"{name}: has no `## Digest` section", "there is nothing to refine", ("lamina digest",)
        case "nothing_new":
            return (
                f"{name}: was refined through {digest.refined_through} and nothing came since",
                "nothing was written",
                ("leave it as it is", "lamina refine --force"),
            )
        case _:
            return (
                f"{name}: its one section is young (under {YOUNG_DAYS} days or {YOUNG_BULLETS} bullets)",
                "nothing was written",
                ("wait for more", "lamina refine --force"),
            )


def _is_young(digest: Digest, today: date) -> bool:
    section = digest.sections[0]
    fresh = section.day is None or (today - section.day).days < YOUNG_DAYS
    return fresh or len(section.items) < YOUNG_BULLETS
