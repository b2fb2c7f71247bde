"""What Lamina changes in DeepSeek Harness: a plugin's package in the store, two entries in each profile.

Seen on 0.2.1-rc.2: an entry that a profile's patch inserts may name its module by path; a profile's folder
may hold a patch before the profile is first used; the patch is written anew when settings change, and what
others wrote into it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from lamina.hosts.setup import SERVER, Edit, OwnFile, Say, Where, YamlItem

#: The files of the package, as `lamina.hosts` ships them.
PACKAGE = ("package.json", "cordis.patch.yml", "src/index.js", "locale/en.json")
#: The profiles that the host makes by itself when they are first named.
PROFILES = ("acp", "headless", "sdk", "web")
PATCH = "cordis.patch.yml"
_CLIENT = "@deepseek-ai/dsh-mcp-client"


def edits(where: Where, root: Path) -> list[Edit]:
    """Say what an install changes below the host's folder `root`."""
    package = files("lamina.hosts") / "assets" / "dsh"
    shipped = [OwnFile(where.assets / name, (package / name).read_text("utf-8")) for name in PACKAGE]
    patches = [root / "profiles" / profile / PATCH for profile in profiles(root)]
    return [*shipped, *(item for patch in patches for item in _entries(where, patch)), *_advice(where)]


def profiles(root: Path) -> list[str]:
    """Return the profiles that are there, else those that the host makes by itself."""
    try:
        found = sorted(folder.name for folder in (root / "profiles").iterdir() if folder.is_dir())
    except OSError:
        found = []
    return found or list(PROFILES)


def _entries(where: Where, patch: Path) -> Iterator[Edit]:
    config: dict[str, Any] = {"hook": str(where.hook), **({"recall": True} if where.recall else {})}
    plugin = {"name": str(where.assets / "src" / "index.js"), "config": config}
    yield YamlItem(patch, SERVER, {"insert": [{"id": SERVER, **plugin}]})
    server = {"serverName": SERVER, "transport": "stdio", "command": str(where.program), "args": ["mcp"]}
    entry = {"id": f"{SERVER}-mcp", "name": _CLIENT, "config": server}
    yield YamlItem(patch, f"{SERVER}-mcp", {"insert": [entry]})


def _advice(where: Where) -> Iterator[Edit]:
    if where.project is not None:
        yield Say(
            "DeepSeek Harness has no settings of a project: this is installed for you, in every project."
        )
    yield Say("A profile that you make later gets memory by another `lamina install dsh`.")
