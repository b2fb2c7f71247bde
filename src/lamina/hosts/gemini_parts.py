"""What a message of Gemini CLI says: the person's words, the model's, tool calls and their results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from lamina.formats.event import Author, Event, Kind, Session
from lamina.hosts.jsonlines import Json, parse_line
from lamina.hosts.reading import (
    Place,
    call_text,
    dict_of,
    mark,
    moment,
    named_paths,
    result_text,
    text_of,
    without_reminders,
)

NAME = "gemini"

_SETTING_UP = "This is the Gemini CLI. We are setting up the context for our chat."
#: A user text that starts so was put there by the host, not typed by the person.
WRAPPERS = (
    "<session_context>",
    "<loaded_context>",
    "<hook_context>",
    "<system-reminder>",
    "<system_note>",
    _SETTING_UP,
    "--- Content from referenced files ---",
    "System: Please continue.",
)
_SUMMARY = "<state_snapshot>"
_SHELL = "run_shell_command"
_HOOK = re.compile(r"\s*<hook_context>(.*?)</hook_context>\s*", re.DOTALL)
_UNTRUSTED = re.compile(r"</?untrusted_context>\n?")
_EXIT = re.compile(r"^Exit Code: [1-9-]", re.MULTILINE)
_SHELL_TAIL = re.compile(r"(?:\n(?:Exit Code|Signal|Process Group PGID): [^\n]*)+\s*\Z")
_FOLDER = re.compile(r"Workspace Directories:\*{0,2}\n\s*- ([^\n]+)")
_OLD_FOLDER = re.compile(r"(?:working in the directory|current working directory is): ([^\n]+)")
_ACKNOWLEDGED = "Got it. Thanks for the additional context!"
_NOTES = frozenset({"info", "warning", "error"})


def session_from(path: Path, records: list[Json]) -> Session:
    """Gather what the first records and the folder around a transcript tell about its session."""
    about = next((data for data in records if "projectHash" in data and "sessionId" in data), {})
    child = about.get("kind") == "subagent"
    times = [moment(about.get("startTime")), *(moment(data.get("timestamp")) for data in records)]
    return Session(
        host=NAME,
        id=text_of(about.get("sessionId")) or path.stem,
        path=str(path),
        cwd=_folder(path, about, records),
        started=min(filter(None, times), default=None),
        parent=path.parent.name if child and path.parent.name != "chats" else "",
        subagent=child,
    )


def _folder(path: Path, about: Json, records: list[Json]) -> str:
    """Find the project's folder, which the transcript itself names only by its digest.

    It stands in the first words of the host, beside the chats in `.project_root`, and among the folders in
    `projects.json`.
    """
    named = [*_told_folders(records), *_kept_folders(path)]
    listed = about.get("directories")
    named += [text_of(item) for item in listed] if isinstance(listed, list) else []
    digest = text_of(about.get("projectHash"))
    sure = (name for name in named if sha256(name.encode("utf-8", "replace")).hexdigest() == digest)
    return next(sure, next(filter(None, named), ""))


def _told_folders(records: list[Json]) -> Iterator[str]:
    for data in records:
        told = dict_of(data.get("$set")).get("messages", data.get("messages", [data]))
        for message in told if isinstance(told, list) else []:
            for text in texts_of(dict_of(message).get("content")):
                if text.startswith(("<session_context>", _SETTING_UP)):
                    found = _FOLDER.search(text) or _OLD_FOLDER.search(text)
                    if found:
                        yield found.group(1).strip()


def _kept_folders(path: Path) -> Iterator[str]:
    """Read what Gemini CLI keeps beside the chats and in its root about where projects lie."""
    chats = next((folder for folder in path.parents[:2] if folder.name == "chats"), None)
    if chats is None:
        return
    root = _text(chats.parent / ".project_root").strip()
    if root:
        yield root
    yield from _listed(_text(chats.parent.parent.parent / "projects.json"))


def _listed(text: str) -> Iterator[str]:
    found, _ = parse_line(text.encode("utf-8", "replace")) if text else ([], "")
    for data in found:
        yield from (name for name in dict_of(data.get("projects")) if name.startswith("/") or ":" in name)


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(1 << 20).decode("utf-8", "replace")
    except OSError:
        return ""


def texts_of(content: Any) -> list[str]:
    """Return the texts of a message's parts, without thoughts."""
    parts = content if isinstance(content, list) else [content]
    texts = (
        part if isinstance(part, str) else "" if dict_of(part).get("thought") else dict_of(part).get("text")
        for part in parts
    )
    return [text for text in texts if isinstance(text, str) and text and not text.isspace()]


def made_of(
    message: Json, line: int, session: Session, failed: frozenset[str], *, whole: bool = False
) -> Iterator[Event]:
    """Make the events of one message; with `whole`, results too stand beside their calls."""
    key, kind = text_of(message.get("id")), text_of(message.get("type"))
    if not key:
        return
    place = Place(line, moment(message.get("timestamp")), key, session.subagent)
    content = message.get("content")
    if kind == "user":
        yield from _results(content, place, failed)
        yield from _typed(message, place, session)
    elif kind == "gemini":
        text = without_reminders("\n".join(texts_of(content))).strip()
        if text == _ACKNOWLEDGED:
            yield place.injected(text)
        elif text:
            yield place.said(Kind.ASSISTANT, Author.MODEL, text)
        yield from _calls(message, place, session, whole=whole)
    elif kind in _NOTES and (texts := texts_of(content)):
        yield place.injected("\n".join(texts))


def _typed(message: Json, place: Place, session: Session) -> Iterator[Event]:
    """Tell the person's words from what stands around them: only those are shown to the person."""
    shown = texts_of(message.get("displayContent"))
    every = texts_of(message.get("content"))
    number = 0
    for text in [*shown, *(text for text in every if text not in shown)]:
        typed = not session.subagent and (not shown or text in shown)
        for event in _said(text, place, number, typed=typed):
            number += 1
            yield event


def _said(text: str, place: Place, number: int, *, typed: bool) -> Iterator[Event]:
    """Make of a user text what it is: what hooks put before it, a summary, or the person's words."""
    while found := _HOOK.match(text):
        yield place.numbered(number).injected(found.group(1))
        text, number = text[found.end() :], number + 1
    place = place.numbered(number)
    if not text.strip():
        return
    if _SUMMARY in text[:2000] and text.lstrip().startswith("<"):
        yield place.said(Kind.COMPACTION, Author.HOST, text)
    elif not typed or text.lstrip().startswith(WRAPPERS):
        yield place.injected(text)
    elif text := without_reminders(text).strip():
        yield place.said(Kind.USER, Author.PERSON, text)


def _calls(message: Json, place: Place, session: Session, *, whole: bool) -> Iterator[Event]:
    calls = message.get("toolCalls")
    for number, call in enumerate(map(dict_of, calls if isinstance(calls, list) else [])):
        tool, arguments = text_of(call.get("name")), call.get("args")
        name = text_of(call.get("id")) or f"{place.key}:{mark(tool, str(number))}"
        if tool:
            yield place.called(name, tool, call_text(arguments), named_paths(arguments, session.cwd))
        if whole:
            status = text_of(call.get("status")) in {"error", "cancelled"}
            yield from _results(call.get("result"), place, frozenset({name} if status else ()))


def _results(content: Any, place: Place, failed: frozenset[str]) -> Iterator[Event]:
    parts = content if isinstance(content, list) else [content]
    for number, part in enumerate(map(dict_of, parts)):
        answer = dict_of(part.get("functionResponse"))
        if not answer:
            continue
        call, tool = text_of(answer.get("id")), text_of(answer.get("name"))
        response = dict_of(answer.get("response"))
        text = result_text(response, names=("output", "error", "content", "result"))
        wrong = call in failed or bool(response.get("error")) or (tool == _SHELL and _left_badly(text))
        own = place.numbered(number)
        yield own.answered(call, tool, _plain(text, shell=tool == _SHELL), failed=wrong)


def _left_badly(text: str) -> bool:
    return _EXIT.search(text[-500:]) is not None


def _plain(text: str, *, shell: bool) -> str:
    """Give a result without what the host wraps around it."""
    text = _UNTRUSTED.sub("", re.sub(r"\s*<hook_context>.*?</hook_context>", "", text, flags=re.DOTALL))
    if shell:
        text = _SHELL_TAIL.sub("", text.rstrip()).removeprefix("Output: ")
    return text.rstrip()
