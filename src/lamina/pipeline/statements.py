"""Cuts what people and models wrote into statements: sentences, lists on one line, commands.

Markdown's mechanics go: a lead-in and its list become one line, of a code block only what a person
would note down stays (commands, settings, declared names), headings become lead-ins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_FENCE = re.compile(r"(`{3,}|~{3,})\s*([\w+-]*)")
_ITEM = re.compile(r"(?:[-*+•‣]|\(?\d{1,2}[.)]|[①-⑳])\s+(?:\[[ xX]\]\s+)?(.*)")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.{1,300}?)(?<=\S)\1")
_BOLD = re.compile(r"(?:\*\*|__)([^*_`]{2,60}?)[:：]?(?:\*\*|__)[:：]?")
_RULE = re.compile(r"[-=*_|:\s]{3,}")
_LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\(([^)\s]{0,500})\)")
_END = re.compile(
    r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]*_`]))\s+(?=[^\s,;])|(?<=[。！？])(?![”’」』）)\"'])|(?<=[。！？][」』”’）])"
)
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|nr|mr|mrs|dr|st|z\.b|d\.h|bzw|usw|p\.ej|т\.е|т\.д|т\.п)|^\w|"
    r"[^\w.]\w)\.$",
    re.IGNORECASE,
)
_COLONS = ":： "
_SHELL = frozenset(
    {"bash", "sh", "shell", "console", "zsh", "fish", "powershell", "ps1", "cmd", "terminal", "shellsession"}
)
_PROSE = frozenset({"md", "markdown", "text", "txt"})
_ASSIGNED = re.compile(r"[A-Z][A-Z0-9_]{2,}=\S*")
_SETTING = re.compile(
    r"^[\"']?([A-Za-z_][\w.-]{2,40})[\"']?\s*[:=]\s*(\"[^\"\n]{1,40}\"|'[^'\n]{1,40}'|-?\d[\w.%]{0,12}|"
    r"true|false|True|False)(?=[\s,;)}\]]|$)",
    re.MULTILINE,
)
_DECLARED = re.compile(
    r"\bCREATE (?:\w+ )?(?:INDEX|TABLE|VIEW)(?: IF NOT EXISTS)?\s+([A-Za-z_]\w{3,50})", re.IGNORECASE
)
_QUERIES = frozenset({"sql", "graphql"})
_COMMENT = re.compile(r"\s+#\s.*$|\s+//\s.*$")
_CUT = re.compile(r"([.!?。！？])…$")  # a clip's mark behind a whole sentence
_SPAN = re.compile(r"`[^`]{2,}`")
_HIDE = "x"
_SPANS = re.compile(r"`[^`]+ [^`]+`(?:; `[^`]+`)*")
_LIST_CHARS = 240
_COMMANDS = 6
_NAMES = 5


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that was said, on one line. `listed`: it was a list; `code`: it came out of a code block."""

    text: str
    listed: bool = False
    code: bool = False


def statements(text: str) -> list[Statement]:
    """Cut a message into statements in the order of the text; linear in its length."""
    reader = _Reader()
    for line in _CUT.sub(r"\1", text).split("\n"):
        reader.read(line.strip())
    return [one for block in reader.end() for one in block.statements() if one.text.strip("…")]


def condensed(text: str) -> str:
    """Put in the place of each code block the one line that is kept of it; everything else stays as it is."""
    out: list[str] = []
    fence, language, block = "", "", list[str]()
    for raw in text.split("\n"):
        line = raw.strip()
        mark = _FENCE.match(line)
        if not fence and mark:
            fence, language, block = mark[1], mark[2].lower(), []
        elif fence and mark and line.startswith(fence) and not mark[2]:
            _replace(out, _from_code(block, language))
            fence = ""
        elif fence:
            block.append(line)
        else:
            out.append(raw)
    if fence:
        _replace(out, _from_code(block, language))
    return "\n".join(out)


def _replace(out: list[str], kept: str) -> None:
    """Add what is kept of a code block; with nothing kept, the line that led to it leads no further."""
    if kept:
        out += [kept, ""]
        return
    while out and not out[-1].strip():
        out.pop()
    if out and out[-1].rstrip().endswith(tuple(_COLONS.strip())):
        out[-1] = out[-1].rstrip().rstrip(_COLONS) + "."


def shares(text: str, chars: int, most: int) -> list[str]:
    """Cut a text at its lines' ends into at most `most` shares of `chars`, the rest in the last."""
    parts: list[str] = []
    while len(parts) < most - 1 and len(text) > chars:
        cut = text.rfind("\n", chars // 3, chars)
        if cut < 0:
            break
        parts.append(text[:cut].rstrip())
        text = text[cut:].strip()
    return [part for part in (*parts, text) if part]


@dataclass(slots=True)
class _Block:
    """A paragraph, a list or a code block under the line that leads to it."""

    kind: str = "prose"  # "prose", "list", "code"
    lead: str = ""
    language: str = ""
    lines: list[str] = field(default_factory=list)

    def statements(self) -> Iterator[Statement]:
        match self.kind:
            case "list":
                for line in _listed(self.lead, self.lines):
                    yield Statement(line, listed=True)
            case "code":
                if kept := _from_code(self.lines, self.language):
                    yield Statement(_led(self.lead, kept), code=True)
                elif " " in self.lead:
                    yield Statement(self.lead)
            case _:
                lead, *rest = sentences(" ".join(self.lines))
                yield Statement(_led(self.lead, lead), code=_SPANS.fullmatch(lead) is not None)
                for sentence in rest:
                    yield Statement(sentence)


class _Reader:
    """Collects blocks line by line; a line that ends with a colon leads the block behind it."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self.block = _Block()
        self.lead = ""
        self.fence = ""

    def read(self, line: str) -> None:
        mark = _FENCE.match(line)
        if self.fence:
            if mark and line.startswith(self.fence) and not mark[2]:
                self.fence = ""
                self.close()
            else:
                self.block.lines.append(line)
        elif mark:
            self.fence = mark[1]
            self.open("code", mark[2].lower())
        elif not line or line.startswith("> "):  # a quote is somebody else's words
            if self.block.kind != "list":
                self.close()
        elif line.startswith("|") and line.endswith("|") and len(line) > 2:
            self._row(line)
        elif item := _ITEM.match(line):
            if self.block.kind != "list":
                self.open("list")
            self.block.lines.append(item[1])
        elif not _RULE.fullmatch(line):
            self._prose(line)

    def _row(self, line: str) -> None:
        """Take in a table's row as an item of a list; the head, known by the rule under it, goes."""
        if self.block.kind != "list":
            self.open("list")
        if _RULE.fullmatch(line):
            self.block.lines.clear()
            return
        first, *rest = [cell.strip() for cell in line.strip("|").split("|") if cell.strip()] or [""]
        self.block.lines.append(f"{first}: {', '.join(rest)}" if rest else first)

    def _prose(self, line: str) -> None:
        heading = _HEADING.match(line) or _BOLD.fullmatch(line)
        if heading or self.block.kind == "list":
            self.close()
        if heading:
            self.lead = _plain(heading[1]).rstrip(_COLONS)
        else:
            self.block.lines.append(line)

    def open(self, kind: str, language: str = "") -> None:
        self.close()
        self.block = _Block(kind, self.lead, language)
        self.lead = ""

    def close(self) -> None:
        """Finish the block; the last sentence of prose becomes the lead-in, if it opens something."""
        block, self.block = self.block, _Block()
        if block.kind != "prose":
            self.blocks.append(block)
        elif block.lines:
            text = _plain(" ".join(block.lines))
            told = sentences(text)
            opens = told.pop().rstrip(_COLONS) if text.endswith(tuple(_COLONS)) else ""
            if told:
                self.blocks.append(_Block("prose", self.lead, lines=told))
            self.lead = opens if told or not opens else _led(self.lead, opens)

    def end(self) -> list[_Block]:
        """Finish the text; a lead-in that leads to nothing is said all the same."""
        self.close()
        if self.lead:
            self.blocks.append(_Block("prose", lines=[self.lead]))
        return self.blocks


def _led(lead: str, text: str) -> str:
    return f"{lead}: {text}" if lead else text


def _plain(text: str) -> str:
    """Drop emphasis and link targets; code spans stay."""
    text = _LINK.sub(lambda m: m[1] or m[2], text)
    text = _EMPHASIS.sub(lambda m: m[2], text)
    if "**" in text and "`" not in text:
        text = text.replace("**", "")
    return " ".join(text.split())


def sentences(text: str) -> list[str]:
    """Split running text, in spaced and unspaced scripts; abbreviations, decimals and code hold together."""
    out: list[str] = []
    hidden = _SPAN.sub(lambda match: f"`{_HIDE * (len(match[0]) - 2)}`", text) if "`" in text else text
    at = 0
    for end in [*_END.finditer(hidden), None]:
        part = text[at : end.start() if end else len(text)].strip()
        at = end.end() if end else at
        if part and out and _ABBREVIATED.search(out[-1][-12:]):
            out[-1] = f"{out[-1]} {part}"
        elif part:
            out.append(part)
    return out


def _listed(lead: str, items: list[str]) -> Iterator[str]:
    """Join a list to lines of a readable length; only the first carries the lead-in."""
    line = ""
    for item in map(_item, items):
        if line and len(lead) + len(line) + len(item) > _LIST_CHARS:
            yield _led(lead, line)
            lead, line = "", ""
        line = f"{line}; {item}" if line else item
    if line:
        yield _led(lead, line)


def _item(text: str) -> str:
    return _plain(text).rstrip(".;,。；")


def _from_code(lines: list[str], language: str) -> str:
    """Keep what a person would note down of a code block: commands, variables, settings, names."""
    lines = [line for line in lines if line]
    if language in _PROSE:
        return " ".join(lines) if len(" ".join(lines)) < _LIST_CHARS else ""
    commands = list(_commands(lines, shell=language in _SHELL, bare=not language))
    if commands:
        return "; ".join(f"`{command}`" for command in commands[:_COMMANDS])
    text = "\n".join(lines)
    settings = () if language in _QUERIES else (f"{match[1]}={match[2]}" for match in _SETTING.finditer(text))
    names = dict.fromkeys([*settings, *(match[1] for match in _DECLARED.finditer(text))])
    return ", ".join(f"`{name}`" for name in [*names][:_NAMES])


def _commands(lines: list[str], *, shell: bool, bare: bool) -> Iterator[str]:
    """Yield the commands of a shell block and assigned variables; a block of another kind has none."""
    for line in lines:
        prompt = line.startswith("$ ")
        text = _COMMENT.sub("", line.removeprefix("$ ")).strip().replace("`", "'")
        if text.startswith("#") or len(text) > 160:
            continue
        if prompt or (shell and text) or (bare and _ASSIGNED.fullmatch(text)):
            yield text
