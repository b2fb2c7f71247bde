"""What the edits of one file make of its bytes, and how they are taken back: pure, nothing is touched."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lamina import errors
from lamina.hosts.setup import Edit, JsonItem, JsonMember, OwnFile, Say, TomlTable, YamlItem
from lamina.install import jsontext, tomltext, yamltext
from lamina.install.jsontree import NotJson

InFile = JsonMember | JsonItem | TomlTable | YamlItem | OwnFile

_COMMAND = re.compile(r"test -x (?P<hook>\S+|'.*') && (?P=hook) [a-z][a-z-]* \w+ \|\| true")
_HOOK = re.compile(r"[/\\]state[/\\]bin[/\\]hook'?$")
_PROGRAM = re.compile(r"[/\\]state[/\\]bin[/\\]lamina$")
_PLUGIN = re.compile(r"[/\\]state[/\\]hosts[/\\]claude-code$")


def by_file(edits: Sequence[Edit]) -> dict[Path, list[InFile]]:
    """Return the edits of each file, in order; sentences are left out."""
    found: dict[Path, list[InFile]] = {}
    for edit in edits:
        if not isinstance(edit, Say):
            found.setdefault(edit.file, []).append(edit)
    return found


def is_own(value: Any) -> bool:
    """Tell a value that Lamina wrote, for whichever store: a hook's command, the server, the plugin's place.

    Only their exact shapes count, so that what others keep at a path like ours stays.
    """
    match value:
        case str():
            command = _COMMAND.fullmatch(value)
            return command is not None and _HOOK.search(command["hook"]) is not None
        case [str(program), "mcp"] | {"command": str(program), "args": ["mcp"]}:
            return _PROGRAM.search(program) is not None
        case {"source": {"source": "directory", "path": str(path)}}:
            return _PLUGIN.search(path) is not None
        case dict():
            return any(map(is_own, value.values()))
        case list():
            return any(map(is_own, value))
    return False


def put(name: Path, data: bytes | None, edits: Sequence[InFile]) -> bytes | None:
    """Return a file's bytes with the edits in it. Raises BadInput for a file that they can't be made in."""
    if not edits:
        return data
    own = edits[-1]
    if isinstance(own, OwnFile):
        return own.content if isinstance(own.content, bytes) else own.content.encode()
    return _edited(name, data, lambda text: _put(text, edits))


def take(name: Path, data: bytes | None, edits: Sequence[InFile], base: bytes | None) -> bytes | None:
    """Return a file's bytes without what is Lamina's, None where nothing else is left and nothing was there.

    `base` is what stood there before the install, None if nothing did or it is not known: containers that it
    has are kept, values come back. Raises BadInput for a file that can't be read.
    """
    if data is None or not edits:
        return data
    own = edits[-1]
    if isinstance(own, OwnFile):
        mine = data == put(name, None, [own]) or b"Lamina" in data
        return base if mine else data
    before = _decoded(name, base) if base is not None else ""
    rest = _edited(name, data, lambda text: _take(text, edits, before))
    if rest == data:
        return data
    return None if base is None and _is_empty(rest.decode(), edits) else rest


def same(name: Path, one: bytes | None, other: bytes | None) -> bool:
    """Tell whether two versions of a file say the same, however they are laid out."""
    if one is None or other is None or one == other:
        return one == other
    try:
        if name.suffix == ".toml":
            return bool(tomltext.find(one.decode(), ()) == tomltext.find(other.decode(), ()))
        return name.suffix in (".json", ".jsonc") and jsontext.find(one.decode(), ()) == jsontext.find(
            other.decode(), ()
        )
    except (ValueError, NotJson):
        return False


def _put(text: str, edits: Sequence[InFile]) -> str:
    for edit in edits:
        match edit:
            case JsonMember(_, at, value) if jsontext.find(text, at) != value or not jsontext.has(text, at):
                text = jsontext.put_member(text, at, value)
            case JsonItem(_, at, value):
                text = jsontext.put_item(text, at, value)
            case TomlTable(_, at, value):
                text = tomltext.put(text, at, value)
            case YamlItem(_, name, value):
                text = yamltext.put(yamltext.take(text, name), name, value)
    return text


def _take(text: str, edits: Sequence[InFile], base: str) -> str:
    for edit in reversed(edits):
        match edit:
            case JsonMember():
                text = _take_member(text, edit, base)
            case JsonItem():
                text = _take_items(text, edit, base)
            case TomlTable():
                text = _take_table(text, edit, base)
            case YamlItem(_, name) if not yamltext.find(base, name):
                text = yamltext.take(text, name)
    return text


def _take_table(text: str, edit: TomlTable, base: str) -> str:
    before, now = tomltext.find(base, edit.at), tomltext.find(text, edit.at)
    if not is_own(now) and now != edit.value:
        return text  # a person has named something of their own like it
    text = tomltext.take(text, edit.at)
    theirs = isinstance(before, dict) and not is_own(before)
    return tomltext.put(text, edit.at, before) if theirs else text


def _take_member(text: str, edit: JsonMember, base: str) -> str:
    at, before = edit.at, jsontext.find(base, edit.at)
    if jsontext.has(base, at) and not is_own(before):
        return text if jsontext.find(text, at) == before else jsontext.put_member(text, at, before)
    named = any("lamina" in key for key in at) and not isinstance(edit.value, dict)
    return jsontext.take_members(text, at, lambda value: named or value == edit.value or is_own(value), base)


def _take_items(text: str, edit: JsonItem, base: str) -> str:
    """Take our items out of the array, and out of those beside it: an older install may have had more."""
    holder = edit.at[:-1]
    names = jsontext.keys(text, holder) if holder else [edit.at[-1]]
    for name in names:
        at = (*holder, name)
        known = edit.value if name == edit.at[-1] else None
        text = jsontext.take_items(text, at, _ours(known), base)
        text = jsontext.take_items(text, (*at, jsontext.EACH, "hooks"), is_own, base)
    return text


def _ours(known: Any) -> Callable[[Any], bool]:
    """Tell items that are ours as a whole; a person may have put a hook of their own beside one of ours."""

    def mine(value: Any) -> bool:
        hooks = value.get("hooks") if isinstance(value, dict) else None
        if isinstance(hooks, list):
            return bool(hooks) and all(map(is_own, hooks))
        return bool(value == known) or is_own(value)

    return mine


def _is_empty(text: str, edits: Sequence[InFile]) -> bool:
    if isinstance(edits[-1], JsonMember | JsonItem):
        return jsontext.find(text, ()) in (None, {}, []) and not re.search(r"//|/\*", text)
    return not text.strip("\ufeff \t\r\n")


def _edited(name: Path, data: bytes | None, change: Callable[[str], str]) -> bytes:
    text = _decoded(name, data or b"")
    try:
        done = change(text)
    except NotJson as problem:
        raise _refused(f"{name}:{problem.line}: not JSON ({str(problem).partition(': ')[2]})") from None
    except jsontext.WrongShape as problem:
        raise _refused(f"{name}: {problem}") from None
    except (ValueError, RecursionError) as problem:
        raise _refused(f"{name}: can't be read ({problem})") from None
    return done.encode()


def _decoded(name: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise _refused(f"{name}: is not UTF-8 text") from None


def _refused(message: str) -> errors.BadInput:
    return errors.BadInput(message, "repair the file, then run the command again; nothing was changed")
