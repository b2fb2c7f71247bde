"""Scopes and workspace keys: `global` or `workspace:<key>`."""

from __future__ import annotations

import re

from lamina.errors import BadKey, UnknownScope
from lamina.formats.frozen import NamedTuple

GLOBAL = "global"
KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")

_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"]
)


class Scope(NamedTuple):
    """Where memory belongs: one workspace, or everywhere (`key` is None)."""

    key: str | None = None

    @property
    def name(self) -> str:
        """The scope as people and fields write it."""
        return GLOBAL if self.key is None else f"workspace:{self.key}"

    @property
    def id_key(self) -> str:
        """The first part of the ids of this scope's entries."""
        return GLOBAL if self.key is None else self.key

    @property
    def folder(self) -> str:
        """The scope's folder in the store, with `/`."""
        return GLOBAL if self.key is None else f"workspaces/{self.key}"

    def __str__(self) -> str:
        return self.name


def is_device_name(name: str) -> bool:
    """Tell whether Windows takes the name for a device, with any extension (`aux.txt`)."""
    return name.split(".", 1)[0].rstrip(" ").lower() in _DEVICES


def is_key(key: str) -> bool:
    """Tell whether a text may be a workspace's key and so a folder's name on every system."""
    if not KEY.fullmatch(key) or key == GLOBAL or key.endswith("."):
        return False
    return not is_device_name(key)


def workspace_scope(key: str) -> Scope:
    """Make the scope of a workspace; raises BadKey for a key that may not be one."""
    if not is_key(key):
        raise BadKey(
            f"{key!r} can't be a workspace key",
            hint="a key has 1 to 64 of a-z 0-9 . _ -, starts with a letter or digit, "
            "and is neither `global` nor a device name such as `con`",
        )
    return Scope(key)


def parse_scope(text: str) -> Scope:
    """Read `global` or `workspace:<key>`; raises UnknownScope or BadKey."""
    if text == GLOBAL:
        return Scope(None)
    kind, colon, key = text.partition(":")
    if kind != "workspace" or not colon:
        raise UnknownScope(f"unknown scope {text!r}", hint="use `global` or `workspace:<key>`")
    return workspace_scope(key)
