"""Makes the card that the hook command prints, and keeps it with what it depends on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from lamina.live import cardfile
from lamina.live.cardfile import key_of
from lamina.memory import Memory
from lamina.memory.reading import utc_now
from lamina.settings.values import config_file
from lamina.store import files, project, repository
from lamina.store.layout import Layout
from lamina.store.registry import CONFIG, PATHS

MOST = 9_500
"""Characters that a session is shown at its start, all in all."""
KEPT = 16
"""Cards that are kept up to date for folders where sessions begin."""
KEPT_S = 2 * 86_400
"""Seconds after the last session in a folder for which its card is kept up to date."""


def folder(root: Path) -> Path:
    """Return where the cards of a store lie."""
    return root / "state" / "cards"


def path_of(root: Path, cwd: str, env: Mapping[str, str]) -> Path:
    """Return where the card for a folder is kept."""
    return folder(root) / key_of(cardfile.card_key(cwd, env))


def make(
    root: Path,
    cwd: str,
    *,
    env: Mapping[str, str],
    clock: Callable[[], datetime] = utc_now,
    asked: float | None = None,
    made: dict[tuple[str, str, int], str] | None = None,
) -> str:
    """Make the card for a session in `cwd` ("" for none), keep it, and return it.

    `asked` is the time, in seconds since 1970, at which a session last began there; now by default. `made`
    holds the cards of other folders that were made a moment ago: the same workspace has the same.
    """
    day = clock().strftime("%Y-%m-%d")
    with Memory.open(root, cwd=cwd or root, env=env, clock=clock) as memory:
        scope = memory.scope  # before what is read is looked at, so that a later change shows
        seen = [*_files(root, cwd, env), *_trees(root, scope.key)]
        budget = min(memory.settings["card_chars"], MOST)
        which, made = (memory.scope.name, memory.branch, budget), {} if made is None else made
        text = made[which] = made.get(which) or memory.card(budget=budget)
        settings = {
            "interval": str(memory.settings["card_interval_s"]),
            "capture": str(memory.settings["capture_interval_s"]),
            "recall": "1" if memory.settings["recall"] else "0",
            "nudges": "1" if memory.settings["nudges"] else "0",
            "asked": f"{time.time() if asked is None else asked:.0f}",
        }
    key = cardfile.card_key(cwd, env)
    cardfile.write_card(str(path_of(root, cwd, env)), key, text, day=day, seen=seen, settings=settings)
    return text


def renew(root: Path, env: Mapping[str, str], clock: Callable[[], datetime] = utc_now) -> int:
    """Make those kept cards anew that are no longer true, for the folders used lately; drop the others."""
    made: dict[tuple[str, str, int], str] = {}
    count = 0
    for number, (path, key, asked) in enumerate(sorted(_kept(root), key=lambda each: -each[2])):
        cwd, own = _parts(key, env)
        stale = number >= KEPT or time.time() - asked > KEPT_S or (cwd and not os.path.isdir(cwd))  # noqa: PTH112 - answers False where pathlib raises
        if stale or path != path_of(root, cwd, own):
            path.unlink(missing_ok=True)
        elif cardfile.read_card(str(path), key) is None:
            make(root, cwd, env=own, clock=clock, asked=asked, made=made)
            count += 1
    return count


def _kept(root: Path) -> Iterator[tuple[Path, str, float]]:
    """Yield the cards that are kept, with their keys and when a session last asked for them."""
    for path in folder(root).glob("*"):
        if path.suffix == ".tmp":
            continue
        key = cardfile.key_in(str(path))
        if key is None:
            path.unlink(missing_ok=True)
        else:
            yield path, key, _asked(path)


def _asked(path: Path) -> float:
    for line in files.read_text(path).split("\n\n", 1)[0].splitlines():
        if line.startswith("set asked "):
            return float(line.removeprefix("set asked "))
    return 0.0


def _parts(key: str, env: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the folder of a key, and the environment that it was asked in."""
    cwd, *ours = key.split("\n")
    others = {name: value for name, value in env.items() if name not in cardfile.DECIDING}
    return cwd, others | dict(line.split("=", 1) for line in ours if "=" in line)


def _trees(root: Path, key: str | None) -> Iterator[str]:
    layout = Layout(root)
    yield cardfile.seen_tree(str(root / "global"))
    if key is not None:
        yield cardfile.seen_tree(str(layout.root / "workspaces" / key))


def _files(root: Path, cwd: str, env: Mapping[str, str]) -> Iterator[str]:
    """Yield what decides which workspace a folder is, and which settings hold there."""
    home = Path(env.get("HOME") or Path.home())
    for path in (root / CONFIG, root / PATHS, root / project.TRUST, config_file(env, home)):
        yield cardfile.seen_file(str(path))
    if not cwd:
        return
    for place in (Path(cwd), *Path(cwd).parents):  # one of them may be a link that is pointed elsewhere
        yield cardfile.seen_file(str(place))
    real = Path(os.path.realpath(cwd))
    for place in (real, *real.parents):
        for name in (".git", project.NAME):
            yield cardfile.seen_file(str(place / name))
    found = repository.find(real)
    if found is not None:
        for path in (found.git_dir / "HEAD", found.common_dir / "config"):
            yield cardfile.seen_file(str(path))
