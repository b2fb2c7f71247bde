"""git's configuration text, read as git reads it; `include` is not followed."""

from __future__ import annotations

from collections.abc import Iterator

from lamina.formats.frozen import NamedTuple

_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}


class Item(NamedTuple):
    """One `key = value`; section and key in lower case, a sub-section as written."""

    section: str
    subsection: str
    key: str
    value: str


def parse_gitconfig(text: str) -> Iterator[Item]:
    """Yield the settings of a git configuration in file order; lines that git would refuse are passed over.

    A key without `=` has the value "true".
    """
    section = subsection = ""
    for line in _joined(text.removeprefix("\ufeff")):
        rest = line.strip()
        if rest.startswith("["):
            head = _header(rest)
            if head is None:
                section = subsection = ""
                continue
            section, subsection, rest = head
        key, equals, value = rest.partition("=")
        name = key.strip().lower()
        if equals and section and _is_name(name):
            yield Item(section, subsection, name, _value(value))
        elif not equals and section:
            bare = name.partition("#")[0].partition(";")[0].strip()
            if _is_name(bare):
                yield Item(section, subsection, bare, "true")


def first_value(text: str, section: str, subsection: str, key: str) -> str | None:
    """Return the first value of a key, as `git remote get-url` does for a remote's URL, or None."""
    for item in parse_gitconfig(text):
        if (item.section, item.subsection, item.key) == (section, subsection, key):
            return item.value
    return None


def _joined(text: str) -> Iterator[str]:
    """Yield lines with those continued that end in an odd number of backslashes."""
    held = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        slashes = len(line) - len(line.rstrip("\\"))
        comment = line.lstrip().startswith(("#", ";"))
        if slashes % 2 and not comment:
            held += line[:-1]
            continue
        yield held + line
        held = ""
    if held:
        yield held


def _header(text: str) -> tuple[str, str, str] | None:
    """Split `[section "sub"] rest`; None if it isn't one."""
    name, out, position = "", "", 1
    quoted = False
    while position < len(text):
        char = text[position]
        if quoted and char == "\\" and position + 1 < len(text):
            out += text[position + 1]
            position += 1
        elif char == '"':
            quoted = not quoted
            if quoted:
                name, out = out.strip(), ""
        elif char == "]" and not quoted:
            break
        else:
            out += char
        position += 1
    else:
        return None
    rest = text[position + 1 :].strip()
    if name:
        return name.lower(), out, rest
    section, _, dotted = out.strip().lower().partition(".")
    return (section, dotted, rest) if section else None


def _value(text: str) -> str:
    """Read a value: quotes keep white space and comment signs, escapes are git's."""
    out, kept, quoted = "", 0, False
    chars = iter(text.strip())
    for char in chars:
        if char == "\\":
            escaped = next(chars, "")
            out += _ESCAPES.get(escaped, escaped)
            kept = len(out)
        elif char == '"':
            quoted = not quoted
            kept = len(out)
        elif char in "#;" and not quoted:
            break
        else:
            out += char
            if quoted or not char.isspace():
                kept = len(out)
    return out[:kept]


def _is_name(text: str) -> bool:
    return bool(text) and text[0].isalpha() and text.replace("-", "").isalnum()
