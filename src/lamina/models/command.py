"""A host's own command line as a model: `claude -p`, `codex exec`, `gemini -p`, `opencode run`, `qwen -p`."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lamina import errors
from lamina.formats.event import CHILD_MARK
from lamina.models.base import TIMEOUT_S, Prompt, Reply, estimate_tokens
from lamina.models.heard import Heard, events
from lamina.models.programs import PROGRAMS, Program
from lamina.models.surroundings import given

if TYPE_CHECKING:
    from lamina.models.child import Ran

_MESSAGE = 300
_ROOMS = 64
_STALE_S = 86_400.0
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?|[\x00-\x08\x0b-\x1f\x7f]")
_OLD = re.compile(r"unknown (option|argument)|unexpected argument|unrecognized|invalid option", re.IGNORECASE)
_LOGIN = re.compile(r"log(ged)? ?in\b|\bauth|api.?key|\b401\b|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CommandModel:
    """A model behind a host's program. How long a reply may be is the host's to say, not the prompt's."""

    name: str
    program: Program
    model: str
    env: Mapping[str, str]
    folder: Path

    @property
    def route(self) -> str:
        """Its name, `host/…`, as it was asked for."""
        return f"host/{self.name}"

    def ask(self, prompt: Prompt, *, within_s: float = TIMEOUT_S) -> Reply:
        """Run the program once, in an empty folder of its own, and return the text of its reply.

        Raises ModelFailed if it is not there, fails, prints nothing that is understood, or takes too long;
        UnwritableStore if no folder can be made for it.
        """
        from lamina.models.child import run

        found = _find(self.program.name, self.env.get("PATH", ""))
        text = f"{CHILD_MARK}\n\n{prompt.system}\n\n{prompt.text}\n"
        with _room(self.folder) as room:
            work = self._furnish(room)
            command = [found, *self._arguments(room)]
            try:
                ran = run(command, text, env=self._environment(room), folder=work, within_s=within_s)
            except (OSError, ValueError) as problem:
                why = getattr(problem, "strerror", None) or str(problem)
                raise errors.ModelFailed(f"{self.program.name} can't be started: {why}") from problem
        return self._reply(ran, text, within_s)

    def _furnish(self, room: Path) -> Path:
        try:
            for name, text in self.program.files.items():
                (room / name).write_text(text, encoding="utf-8")
            (room / "tmp").mkdir(0o700)
            work = room / "work"
            work.mkdir(0o700)
        except OSError as problem:
            raise _unwritable(room, problem) from problem
        return work

    def _arguments(self, room: Path) -> list[str]:
        args = [arg.replace("{room}", os.fspath(room)) for arg in self.program.args]
        named = [f"--model={self.model}"] if self.model else []
        return [args[0], *named, *args[1:], *self.program.more(self.env)]

    def _environment(self, room: Path) -> dict[str, str]:
        kept = given(self.program.host, self.env)
        own = {key: value.replace("{room}", os.fspath(room)) for key, value in self.program.env.items()}
        common = {
            "LAMINA_CHILD": "1",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "TMPDIR": os.fspath(room / "tmp"),  # Gemini CLI leaves reports of failures, prompt and all
            "GIT_CEILING_DIRECTORIES": os.fspath(self.folder),
        }
        return {**kept, **own, **common}

    def _reply(self, ran: Ran, asked: str, within_s: float) -> Reply:
        heard = Heard()
        for event in events(ran.out):
            self.program.hear(heard, event)
        text = "\n".join(part for part in heard.texts if part)
        stopped = ran.late or ran.flooded
        if stopped and not heard.ended:
            if not text:
                raise self._failed(self._why_stopped(ran, heard, within_s))
        elif heard.problem or (ran.code and not stopped) or not heard.known:
            raise self._failed(heard.problem or _last_line(ran.err) or _last_line(ran.out) or _silence(ran))
        counted = bool(heard.ended and heard.tokens_in + heard.tokens_out)
        return Reply(
            text,
            heard.cut or (stopped and not heard.ended),
            heard.tokens_in if counted else estimate_tokens(asked),
            heard.tokens_out if counted else estimate_tokens(text),
            counted,
        )

    def _why_stopped(self, ran: Ran, heard: Heard, within_s: float) -> str:
        why = "printed more than 1 MB" if ran.flooded else f"took longer than {within_s:g} s"
        last = heard.problem or _last_line(ran.err)
        return f"{why} and was ended" + (f"; last it said: {last}" if last else "")

    def _failed(self, why: str) -> errors.ModelFailed:
        name = self.program.name
        if _OLD.search(why):
            hint = f"update {name}: this version does not know a switch that Lamina needs"
        elif _LOGIN.search(why):
            hint = f"run {name} in a terminal and log in, then try again"
        else:
            hint = f"see what {name} answers in a terminal, or choose another model"
        return errors.ModelFailed(_clip(f"{name}: {why}"), hint)


def command_model(host: str, *, env: Mapping[str, str], folder: Path) -> CommandModel:
    """Return the model behind a host's program: `codex`, or with a model of its, `codex:NAME`, `codex/NAME`.

    `env` is what the program gets, less others' credentials and what would make it believe that another agent
    runs it; `folder` must exist and be private. Raises BadSetting for a host without a program.
    """
    name, _, model = re.sub("[:/]", "\n", host.removeprefix("host/"), count=1).partition("\n")
    program = PROGRAMS.get(name)
    if program is None:
        known = ", ".join(f"host/{each}" for each in PROGRAMS)
        raise errors.BadSetting(f"{name!r} is no host that can be a model", f"there are {known}")
    return CommandModel(host.removeprefix("host/"), program, model, env, folder)


def _find(name: str, path: str) -> str:
    """Find the program in the absolute folders of PATH: a relative one would be the work of the project."""
    folders = os.pathsep.join(part for part in path.split(os.pathsep) if Path(part).is_absolute())
    found = shutil.which(name, path=folders) if folders else None
    if found is None:
        raise errors.ModelFailed(f"{name} is not on PATH", f"install {name}, or choose another model")
    return found


@contextmanager
def _room(folder: Path) -> Iterator[Path]:
    """Make a folder for one run, and remove it afterwards.

    Its name comes again: some hosts keep a list of all folders that they ever ran in.
    """
    room = _make(folder)
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _make(folder: Path) -> Path:
    for number in range(_ROOMS):
        room = folder / f"model-{number}"
        for _ in range(2):
            try:
                room.mkdir(0o700)
            except FileExistsError:
                if not _is_cleared(room):
                    break
            except OSError as problem:
                raise _unwritable(room, problem) from problem
            else:
                return room
    raise errors.ModelFailed(f"{_ROOMS} programs run as models already", "try again later")


def _is_cleared(room: Path) -> bool:
    """Clear away what a killed run left a day ago; False if the folder may be in use."""
    with suppress(OSError):
        if time.time() - room.lstat().st_mtime > _STALE_S:
            aside = room.with_name(f"{room.name}-{os.getpid()}-old")
            room.rename(aside)
            shutil.rmtree(aside, ignore_errors=True)
            return True
    return False


def _unwritable(path: Path, problem: OSError) -> errors.UnwritableStore:
    return errors.UnwritableStore(f"{path}: {problem.strerror}", "free some space, or look at the rights")


def _last_line(text: str) -> str:
    """Return the last line that says something; what Node prints of its stack does not."""
    lines = [line.strip() for line in _ANSI.sub("", text.replace("\r", "\n")).splitlines()]
    return next((line for line in reversed(lines) if line and not line.startswith("at ")), "")


def _silence(ran: Ran) -> str:
    return f"it ended with code {ran.code} and said nothing" if ran.code else "it printed nothing"


def _clip(text: str) -> str:
    line = " ".join(_ANSI.sub("", text).split())
    return line if len(line) <= _MESSAGE else line[: _MESSAGE - 1] + "…"
