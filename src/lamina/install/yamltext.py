"""An item appended to the list that a YAML text is, and taken out of it again; every other byte stays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lamina.install.jsontext import WrongShape


def put(text: str, name: str, value: Mapping[str, Any]) -> str:
    """Append an item that `name` names: by that of the first entry it inserts, else by its own `id`.

    Raises ValueError (no YAML) and WrongShape.
    """
    root = _root(text)
    item = dict(value) if _inserts(value) == name else {"id": name, **value}
    wanted = [*_shape(root), _shape_of(item)]
    for added in _ways(text, root, item):
        if _is(added, wanted):
            return added
    raise WrongShape("an item can't be appended to the list")


def take(text: str, name: str) -> str:
    """Take out the items that `name` names. Raises ValueError (no YAML) and WrongShape."""
    while True:
        root = _root(text)
        items = [] if root is None else root.value
        numbers = [number for number, item in enumerate(items) if _id(item) == name]
        if root is None or not numbers:
            return text
        rest = _flow_without(text, root, numbers[-1]) if root.flow_style else _cut(text, root, numbers[-1])
        if not _is(rest, [shape for number, shape in enumerate(_shape(root)) if number != numbers[-1]]):
            raise WrongShape(f"the item {name} can't be taken out of the list")
        text = rest


def find(text: str, name: str) -> bool:
    """Tell whether `name` names an item. Raises ValueError (no YAML) and WrongShape."""
    root = _root(text)
    return root is not None and any(_id(item) == name for item in root.value)


def _ways(text: str, root: Any, item: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts with the item in them, the one that keeps comments at the end first."""
    if root is None:
        yield text + _break(text) + _block(item, "", _eol(text))
    elif root.flow_style:
        yield _into_flow(text, root, item)
    else:
        yield _behind(text, root, item, _last(text, root))
        yield _behind(text, root, item, root.end_mark.index - 1)  # what looks like a comment may be text


def _is(text: str, wanted: list[Any]) -> bool:
    try:
        return _shape(_root(text)) == wanted
    except (ValueError, WrongShape):
        return False


def _root(text: str) -> Any:
    """Return the list's node, None for a text without one."""
    import yaml

    try:
        node = yaml.compose(text.removeprefix("\ufeff"), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as problem:
        raise ValueError(" ".join(str(problem).split())) from problem
    if node is None or (isinstance(node, yaml.ScalarNode) and node.value in ("", "null", "~")):
        return None
    if not isinstance(node, yaml.SequenceNode):
        raise WrongShape("the whole is not a list")
    return node


def _inserts(value: Mapping[str, Any]) -> str:
    """Return the `id` of the first entry that an item inserts."""
    match value.get("insert"):
        case [{"id": str(name)}, *_]:
            return name
    return ""


def _id(item: Any) -> str:
    """Return the `id` of an item, else that of the first entry it inserts into another list."""
    if found := _values(item, "id"):
        return str(found[0].value)
    given = [values.value for values in _values(item, "insert") if isinstance(values.value, list)]
    found = _values(given[0][0], "id") if given and given[0] else []
    return str(found[0].value) if found else ""


def _values(item: Any, name: str) -> list[Any]:
    pairs = getattr(item, "value", None)
    pairs = pairs if isinstance(pairs, list) else []
    return [pair[1] for pair in pairs if isinstance(pair, tuple) and pair[0].value == name]


def _shape(node: Any) -> list[Any]:
    return [] if node is None else [_deep(item) for item in node.value]


def _shape_of(item: Mapping[str, Any]) -> Any:
    import yaml

    return _deep(yaml.compose(json.dumps(item), Loader=yaml.SafeLoader))


def _deep(node: Any) -> Any:
    if isinstance(node.value, str):
        return (node.tag, node.value)
    if node.value and isinstance(node.value[0], tuple):
        return (node.tag, [(_deep(key), _deep(value)) for key, value in node.value])
    return (node.tag, [_deep(item) for item in node.value])


def _block(item: Mapping[str, Any], indent: str, eol: str) -> str:
    import yaml

    told = yaml.safe_dump([item], sort_keys=False, allow_unicode=True, width=10_000)
    return "".join(f"{indent}{line}{eol}" for line in told.splitlines())


def _behind(text: str, root: Any, item: Mapping[str, Any], last: int) -> str:
    """Append behind the last item of a list in block style, before an end mark or comments."""
    skip = 1 if text.startswith("\ufeff") else 0
    end = _line_end(text, last + skip)
    head, rest = text[:end], text[end:]
    return head + _break(head) + _block(item, " " * root.start_mark.column, _eol(text)) + rest


def _last(text: str, root: Any) -> int:
    """Return where the list's last word ends: PyYAML counts the space behind it, too."""
    end: int = root.end_mark.index
    plain = text.removeprefix("\ufeff")
    while end > 0:
        start = plain.rfind("\n", 0, end - 1) + 1
        line = plain[start:end]
        if line.strip() and not line.lstrip().startswith("#"):
            return start + len(line.rstrip())
        end = start
    return end


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _cut(text: str, root: Any, number: int) -> str:
    skip = 1 if text.startswith("\ufeff") else 0
    start = text.rfind("\n", 0, root.value[number].start_mark.index + skip) + 1
    if number + 1 < len(root.value):
        end = text.rfind("\n", 0, root.value[number + 1].start_mark.index + skip) + 1
        end = _line_end(text, start + len(_own(text[start:end], root.start_mark.column)) - 1)
    else:
        end = _line_end(text, _last(text, root) + skip)
    return text[:start] + text[end:]


def _own(part: str, column: int) -> str:
    """Return an item's text without the comments behind it that belong to the next one."""
    lines = part.splitlines(keepends=True)
    while len(lines) > 1:
        line = lines[-1]
        if line.strip() and not (line.lstrip().startswith("#") and len(line) - len(line.lstrip()) <= column):
            break
        lines.pop()
    return "".join(lines)


def _into_flow(text: str, root: Any, item: Mapping[str, Any]) -> str:
    skip = 1 if text.startswith("\ufeff") else 0
    closer = root.end_mark.index + skip - 1
    inner = text[root.start_mark.index + skip + 1 : closer].rstrip()
    trailing = inner.endswith(",")
    comma = ", " if root.value and not trailing else ""
    end = root.start_mark.index + skip + 1 + len(inner)
    return text[:end] + comma + json.dumps(item, ensure_ascii=False) + "," * trailing + text[end:]


def _flow_without(text: str, root: Any, number: int) -> str:
    skip = 1 if text.startswith("\ufeff") else 0
    items = root.value
    start, end = items[number].start_mark.index + skip, items[number].end_mark.index + skip
    if number + 1 < len(items):
        end = items[number + 1].start_mark.index + skip
    elif text[end:].lstrip().startswith(","):
        end = text.index(",", end) + 1
    elif number:
        start = items[number - 1].end_mark.index + skip
    return text[:start] + text[end:]


def _break(text: str) -> str:
    return "" if not text.strip("\ufeff") or text.endswith("\n") else _eol(text)


def _eol(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
