"""Read sets of conversations and questions: the project's own shape, LoCoMo, BEAM and LongMemEval.

Each becomes the same thing: a corpus of units (turns) in which each question has its gold units. Questions
without a gold unit that exists are left out, since no search can be right about them.

Sources of the shapes: the released files `locomo10.json` of LoCoMo, the `chat.json` and
`probing_questions.json` of BEAM, the `longmemeval_*.json` of LongMemEval. None of their text is kept here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

from lamina.errors import BadInput, NoSuchFile

_TURN = re.compile(r"D\d+:\d+")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_PLAN = re.compile(r"\s*->->.*$", re.DOTALL)
_LOCOMO = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_DAYS = ("%I:%M %p on %d %B, %Y", "%B-%d-%Y", "%Y/%m/%d (%a) %H:%M", "%Y-%m-%d")


class Unit(NamedTuple):
    """One turn: `seq` counts from 0 inside its session."""

    id: str
    session: str
    seq: int
    speaker: str
    day: date | None
    text: str
    project: str = ""


class Question(NamedTuple):
    """What is asked, and the ids of the units that answer it.

    Where these are sessions, `turns` are the turns in them that answer it, as far as the data says.
    """

    id: str
    text: str
    gold: frozenset[str]
    kind: str
    language: str = ""
    turns: frozenset[str] = frozenset()


class Corpus(NamedTuple):
    """What is searched together; `today` is the day on which the questions are asked (None: the last one).

    `unit` says what the ids of gold name: turns, or whole sessions.
    """

    name: str
    units: tuple[Unit, ...]
    questions: tuple[Question, ...]
    today: date | None = None
    unit: str = "turn"


def _refusing(load: Callable[[Path], list[Corpus]]) -> Callable[[Path], list[Corpus]]:
    """Have a loader tell of data in another shape as of any bad input, not as of a fault of its own."""

    @wraps(load)
    def refusing(path: Path) -> list[Corpus]:
        try:
            return load(path)
        except (AttributeError, KeyError, TypeError) as problem:
            raise BadInput(
                f"{path}: it has another shape than expected ({problem!r})",
                "check that it is the released file",
            ) from problem

    return refusing


@_refusing
def load_set(folder: Path) -> list[Corpus]:
    """Read a set of the project's shape: a folder with sessions.json and questions.json, or of such folders.

    All folders make one corpus, so that languages and projects stand beside each other as in a real store.
    A question is answered by its sessions (`haystackSessionIds`), and in them by the messages that `goldIds`
    name (session:message, messages counted from 0). Raises BadInput or NoSuchFile, naming the file.
    """
    units: list[Unit] = []
    questions: list[Question] = []
    known: set[str] = set()
    for part in _parts(folder):
        for at, each in enumerate(_json(part / "sessions.json", list)):
            where = f"{part / 'sessions.json'}: session {at}"
            units += _session(each, where)
            if each["sessionId"] in known:
                raise BadInput(
                    f"{where}: another session has its sessionId", "give each session an id of its own"
                )
            known.add(each["sessionId"])
        language = part.name if part != folder else ""
        questions += [
            _asked(each, f"{part / 'questions.json'}: question {at}", language)
            for at, each in enumerate(_json(part / "questions.json", list))
        ]
    return [_corpus("set", units, questions, unit="session")]


@_refusing
def load_locomo(path: Path) -> list[Corpus]:
    """Read conversations of LoCoMo: one corpus each, turns with speaker, day and images' captions."""
    corpora = []
    for at, sample in enumerate(_json(path, list)):
        where = f"{path}: conversation {at}"
        name = str(_field(sample, "sample_id", where, str | int))
        units = list(_locomo_turns(_field(sample, "conversation", where, dict)))
        asked = [
            Question(
                f"{name}:{number}",
                str(each.get("question", "")),
                frozenset(_turn_ids(each.get("evidence"))),
                _LOCOMO.get(each.get("category"), "other"),
            )
            for number, each in enumerate(_field(sample, "qa", where, list))
        ]
        corpora.append(_corpus(name, units, asked))
    return corpora


@_refusing
def load_beam(folder: Path) -> list[Corpus]:
    """Read chats of BEAM: a folder with chat.json and probing_questions.json, or one of such folders."""
    parts = [folder] if (folder / "chat.json").is_file() else sorted(_beam_chats(folder), key=_by_number)
    if not parts:
        raise NoSuchFile(
            f"{folder}: no chat.json in it or below", "name the folder of one chat or of several"
        )
    corpora = []
    for part in parts:
        units = list(_beam_turns(part / "chat.json"))
        asked = [
            Question(
                f"{part.name}:{kind}:{at}",
                str(each.get("question", "")),
                frozenset(str(number) for number in _numbers(each.get("source_chat_ids"))),
                kind,
            )
            for kind, several in sorted(_json(_probing(part), dict).items())
            for at, each in enumerate(several)
        ]
        corpora.append(_corpus(part.name, units, asked))
    return corpora


@_refusing
def load_longmemeval(path: Path) -> list[Corpus]:
    """Read LongMemEval: each question has a haystack of sessions of its own, turns marked `has_answer`."""
    corpora = []
    for at, each in enumerate(_json(path, list)):
        where = f"{path}: question {at}"
        name = str(_field(each, "question_id", where, str))
        units: list[Unit] = []
        gold: set[str] = set()
        days = each.get("haystack_dates") or ()
        ids = each.get("haystack_session_ids") or ()
        for number, turns in enumerate(_field(each, "haystack_sessions", where, list)):
            session = str(ids[number]) if number < len(ids) else str(number)
            day = _day(str(days[number])) if number < len(days) else None
            for seq, turn in enumerate(turns):
                role, text = (_field(turn, field, where, str) for field in ("role", "content"))
                unit = Unit(f"{number}:{seq}", f"{number}:{session}", seq, role, day, text)
                units.append(unit)
                if turn.get("has_answer"):
                    gold.add(unit.id)
        if name.endswith("_abs"):
            gold.clear()
        asked = Question(
            name, str(each.get("question", "")), frozenset(gold), str(each.get("question_type", ""))
        )
        corpora.append(_corpus(name, units, [asked], _day(str(each.get("question_date", "")))))
    return corpora


def _corpus(
    name: str,
    units: Sequence[Unit],
    questions: Iterable[Question],
    today: date | None = None,
    unit: str = "turn",
) -> Corpus:
    there = {each.session if unit == "session" else each.id for each in units}
    turns = {each.id for each in units}
    usable = [
        each._replace(gold=each.gold & there, turns=each.turns & turns)
        for each in questions
        if each.text.strip()
    ]
    last = max((each.day for each in units if each.day), default=None)
    return Corpus(name, tuple(units), tuple(each for each in usable if each.gold), today or last, unit)


# --- the project's own shape ------------------------------------------------------------------------


def _parts(folder: Path) -> list[Path]:
    if (folder / "sessions.json").is_file():
        return [folder]
    parts = sorted(each.parent for each in folder.glob("*/sessions.json"))
    if not parts:
        raise NoSuchFile(
            f"{folder}: no sessions.json in it or in a folder below",
            "name a folder with sessions.json and questions.json",
        )
    return parts


def _session(each: Any, where: str) -> Iterator[Unit]:
    session = str(_field(each, "sessionId", where, str))
    facts = each.get("metadata") or {}
    project = str(facts.get("project", ""))
    day = _day(str(facts.get("date", "")))
    for seq, message in enumerate(_field(each, "messages", where, list)):
        text = str(_field(message, "content", f"{where}, message {seq}", str))
        speaker = str(message.get("role", ""))
        yield Unit(f"{session}:{seq}", session, seq, speaker, day, text, project)


def _asked(each: Any, where: str, language: str) -> Question:
    text = str(_field(each, "question", where, str))
    sessions, turns = (
        frozenset(map(str, _field({name: [], **each}, name, where, list)))
        for name in ("haystackSessionIds", "goldIds")
    )
    kind = str(each.get("questionType", ""))
    return Question(str(each.get("questionId", where)), text, sessions, kind, language, turns)


# --- other shapes -----------------------------------------------------------------------------------


def _locomo_turns(conversation: Mapping[str, Any]) -> Iterator[Unit]:
    numbers = sorted(int(key[8:]) for key in conversation if re.fullmatch(r"session_\d+", key))
    for number in numbers:
        day = _day(str(conversation.get(f"session_{number}_date_time", "")))
        for seq, turn in enumerate(conversation[f"session_{number}"]):
            text, caption = str(turn.get("text", "")), turn.get("blip_caption")
            text = f"{text} [image: {caption}]" if caption else text
            yield Unit(str(turn["dia_id"]), str(number), seq, str(turn.get("speaker", "")), day, text)


def _turn_ids(evidence: Any) -> Iterator[str]:
    for each in evidence if isinstance(evidence, list) else ():
        for name in _TURN.findall(str(each)):
            session, turn = name[1:].split(":")
            yield f"D{int(session)}:{int(turn)}"


def _beam_chats(folder: Path) -> Iterator[Path]:
    for each in folder.rglob("chat.json"):
        yield each.parent


def _probing(part: Path) -> Path:
    """Return the file of a chat's questions, which some releases keep in a folder of its own."""
    name = "probing_questions"
    return next(
        (at for at in (part / f"{name}.json", part / name / f"{name}.json") if at.is_file()),
        part / f"{name}.json",
    )


def _by_number(part: Path) -> tuple[int, str]:
    return (int(part.name) if part.name.isdigit() else 0, part.name)


def _beam_turns(path: Path) -> Iterator[Unit]:
    day: date | None = None
    for batch in _json(path, list):
        turns = [turn for exchange in batch.get("turns", ()) for turn in exchange]
        for seq, turn in enumerate(turns):
            day = _day(str(turn.get("time_anchor", ""))) or day
            text = _PLAN.sub("", str(turn.get("content", "")))
            session = str(batch.get("batch_number", ""))
            yield Unit(str(turn["id"]), session, seq, str(turn.get("role", "")), day, text)


def _numbers(value: Any) -> Iterator[int]:
    """Yield every number in lists and mappings nested as they come."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _numbers(each)
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(each)


def _day(text: str) -> date | None:
    for shape in _DAYS:
        try:
            return datetime.strptime(text.strip(), shape).date()  # noqa: DTZ007 - a day without a zone
        except ValueError:
            continue
    return None


def _json(path: Path, kind: type) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = json.loads(text)
        if _HALF.search(text):  # half a pair can be said in JSON, but no UTF-8 holds it
            data = json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))
    except FileNotFoundError:
        raise NoSuchFile(f"{path}: no such file", "check the path") from None
    except (OSError, ValueError, RecursionError) as problem:
        raise BadInput(f"{path}: not readable as JSON: {problem}", "check the file") from None
    if not isinstance(data, kind):
        raise BadInput(
            f"{path}: a {kind.__name__} is expected at the top", "check that it is the released file"
        )
    return data


def _field(each: Any, name: str, where: str, kind: Any) -> Any:
    if not isinstance(each, dict) or not isinstance(each.get(name), kind):
        raise BadInput(
            f"{where}: {name!r} is missing or of another type", "check that it is the released file"
        )
    return each[name]
