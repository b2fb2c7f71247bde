"""Write a setting into a TOML file; comments, order and all else stay as a person left them."""

from __future__ import annotations

import os
from collections.abc import Callable, MutableMapping
from pathlib import Path

from lamina import errors
from lamina.settings.table import parse_value, setting_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tomlkit import TOMLDocument


def set_value(path: Path, key: str, value: object) -> Any:
    """Write a setting into a TOML file, made if need be; comments and all else stay. Returns the value.

    Raises BadSetting, and BadInput for a file that is no TOML.
    """
    setting = setting_named(key)
    in_project = path.name == ".lamina.toml"
    if setting.place == "environment":
        hint = f"set {setting.variable}, or use git's credential helper"
        raise errors.BadSetting(f"{key} is never written to a file", hint)
    if setting.place in ("project", "session") and not in_project:
        raise errors.BadSetting(f"{key} belongs into a project's .lamina.toml", "add --project")
    if in_project and key == "root":
        raise errors.BadSetting("a project can't move the store", "set it without --project")
    found = parse_value(setting, value)

    def change(document: TOMLDocument) -> None:
        table, name = _holder(document, key) or (document, key)
        table[name] = found

    _rewrite(path, change)
    return found


def unset_value(path: Path, key: str) -> None:
    """Take a setting out of a TOML file, so that the layers below count again."""
    setting_named(key)

    def change(document: TOMLDocument) -> None:
        while holder := _holder(document, key):
            del holder[0][holder[1]]

    _rewrite(path, change)


def _holder(table: MutableMapping[str, Any], key: str) -> tuple[MutableMapping[str, Any], str] | None:
    """Return the table that sets a key, also as `[git] remote` for `git_remote`, or None."""
    if key in table:
        return table, key
    for name, inner in table.items():
        if isinstance(inner, MutableMapping) and key.startswith(f"{name}_"):
            found = _holder(inner, key.removeprefix(f"{name}_"))
            if found:
                return found
    return None


def _rewrite(path: Path, change: Callable[[TOMLDocument], None]) -> None:
    import tomlkit
    from tomlkit.exceptions import ParseError

    from lamina.store import files

    # A link is the person's own way to keep the file elsewhere; it stays a link.
    real = Path(os.path.realpath(path))
    before = files.read_optional(real)
    try:
        document = tomlkit.parse(before or "")
    except ParseError as problem:
        raise errors.BadInput(
            f"{path}:{problem.line}: not TOML: {problem}", "repair the file first"
        ) from problem
    change(document)
    after = tomlkit.dumps(document)
    if after == (before or ""):
        return
    mode = real.stat().st_mode & 0o777 if before is not None else 0o644
    real.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(real, after, expected=None if before is None else files.fingerprint(before))
    real.chmod(mode)
