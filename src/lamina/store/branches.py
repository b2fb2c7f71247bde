"""What git says of a project's branches: which is the default one, and what was merged into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.store import git

if TYPE_CHECKING:
    from pathlib import Path

_USUAL = ("main", "master", "trunk", "develop")
_MERGES = "2000"
"""How many merges back the name of a branch that is gone is looked for."""


def default_branch(folder: Path) -> str | None:
    """Return the branch that the remote calls its own, else the first of the usual names that is there."""
    told = git.run(folder, ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"])
    if told.ok:
        return told.out.strip().removeprefix("origin/")
    for name in _USUAL:
        if _tips(folder, name):
            return name
    return None


def is_merged(folder: Path, branch: str) -> bool:
    """Tell whether what was done on a branch is part of the default branch; doubt says no.

    A branch without a commit of its own is not merged, though git would call it so. One that is gone is
    merged if a merge of it is told in the default branch's history.
    """
    default = default_branch(folder)
    if default is None or branch == default:
        return branch == default
    into, tips = _tips(folder, default), _tips(folder, branch)
    if not tips:
        return any(_merge_told(folder, branch, tip) for tip in into)
    if _began_at(folder, branch) in tips:
        return False
    return any(
        git.run(folder, ["merge-base", "--is-ancestor", tip, target]).ok for tip in tips for target in into
    )


def _tips(folder: Path, branch: str) -> list[str]:
    """Return the commits that a branch stands at here and at its remote, its own first."""
    names = (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}")
    found = [
        git.run(folder, ["rev-parse", "--quiet", "--verify", "--end-of-options", name]) for name in names
    ]
    return list(dict.fromkeys(each.out.strip() for each in found if each.ok))


def _began_at(folder: Path, branch: str) -> str:
    """Return the commit at which a branch was made on this machine, "" if git no longer knows."""
    told = git.run(folder, ["log", "--walk-reflogs", "--format=%H", f"refs/heads/{branch}", "--"])
    return told.out.split()[-1] if told.ok and told.out.split() else ""


def _merge_told(folder: Path, branch: str, tip: str) -> bool:
    told = git.run(folder, ["log", "--merges", "--format=%s", "-n", _MERGES, tip, "--"])
    return any(
        f"'{branch}'" in line or line.split(" from ")[-1].partition("/")[2] == branch
        for line in told.out.splitlines()
        if line.startswith("Merge ")
    )
