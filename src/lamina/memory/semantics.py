"""Which semantic core a project's memory has here, and what programs ask of the built-in one."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.models import external as programs
from lamina.pipeline.builtin import Builtin, remake
from lamina.pipeline.external import External
from lamina.store import files, memoryfolder
from lamina.store.repository import find

if TYPE_CHECKING:
    from lamina.embed.base import Embedder
    from lamina.memory.opened import Opened
    from lamina.pipeline.semantic import Core

OFF, BUILTIN, ENV = "off", "builtin", "env:"
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]{0,99}")
_EXCLUDE = "info/exclude"
_GLOB, _ESCAPED = r"[\\*?\[]", r"\\\g<0>"


def core_of(opened: Opened, *, memory: Path, env_name: str | None = None) -> tuple[Core | None, str]:
    """Return the semantic core of a memory folder, or None and why there is none.

    `env_name` names the variable of an external core and counts more than the setting `semantic`. Raises
    BadSetting for a setting that names none.
    """
    setting = f"{ENV}{env_name}" if env_name else str(opened.settings["semantic"])
    vectors = memory / memoryfolder.VECTORS
    if setting == OFF:
        return None, "the setting semantic is off"
    if setting == BUILTIN:
        return Builtin(vectors, lambda: embedder_of(opened), opened.clock, making=_exclude), ""
    name = setting.removeprefix(ENV)
    if not setting.startswith(ENV) or not _NAME.fullmatch(name):
        raise errors.BadSetting(
            f"semantic = {setting!r} is none of builtin, off, env:NAME",
            "`lamina config set semantic builtin` sets the usual one",
        )
    where = opened.env.get(name, "")
    if not where:
        return None, f"the environment variable {name} is not set"
    if not os.path.isdir(where):  # noqa: PTH112 - no error of any kind counts as one
        return None, f"{name} names {where}, which is no folder"
    folder = Path(where).absolute()

    def call(script: str, request: Mapping[str, Any]) -> programs.Reply:
        return programs.call(folder / script, request, env=opened.env, variable=name)

    return External(name, vectors, call), ""


def embedder_of(opened: Opened) -> Embedder | None:
    """Return the embedder of the settings. Raises EmbedderUnavailable."""
    return opened.embedder


def _exclude(vectors: Path) -> None:
    """Keep records that are about to be made out of the repository's commits, in its own list here.

    Best effort: a repository that can't be written keeps what it has.
    """
    try:
        if os.path.lexists(vectors):
            return
        memory = Path(os.path.realpath(vectors.parent))
        repository = find(memory if memory.is_dir() else memory.parent)
        if repository is None or repository.top is None:
            return
        inside = (memory / vectors.name).relative_to(os.path.realpath(repository.top)).as_posix()
        line = f"/{re.sub(_GLOB, _ESCAPED, inside)}*"
        path = repository.common_dir / _EXCLUDE
        old = files.read_optional(path)
        if "\n" in line or line in (old or "").splitlines():
            return
        gap = "" if not old or old.endswith("\n") else "\n"
        memoryfolder.replace(path, f"{old or ''}{gap}{line}\n", old=old)
    except (errors.LaminaError, ValueError, OSError):
        return


def ask(opened: Opened, verb: str, request: object) -> tuple[int, dict[str, Any]]:
    """Let a program `ingest`, `refine` or `query` records; returns the exit code and the reply."""
    from lamina.pipeline import coretalk

    verbs = {"ingest": coretalk.ingest, "refine": coretalk.refine, "query": coretalk.query}
    if verb == "ingest" and isinstance(request, Mapping) and isinstance(request.get("dbPath"), str):
        _exclude(Path(request["dbPath"]))
    return verbs[verb](request, lambda: embedder_of(opened), opened.clock)


def rebuild(
    opened: Opened, *, project: str | os.PathLike[str] | None = None, memory_path: str | None = None
) -> dict[str, Any]:
    """Make the built-in records of a project anew from its digest; a damaged file is kept beside.

    Raises NoSuchFile without a digest, Undecided for one that leaves open what it says, CoreUnavailable.
    """
    from lamina.formats.digestreader import parse_digest
    from lamina.memory.projects import folder_of
    from lamina.pipeline.digest import sync
    from lamina.pipeline.digest.view import require_readable

    folder = folder_of(opened, project=project, memory_path=memory_path)
    text = memoryfolder.read(folder.digest)
    if text is None:
        raise errors.NoSuchFile(f"{folder.digest}: there is no digest", "`lamina digest` makes one")
    digest = parse_digest(text)
    require_readable(digest, folder.digest.name)
    with memoryfolder.locked(folder):
        _exclude(folder.vectors)
        outcomes = remake(folder.vectors, sync.records(digest), opened.clock())
        outcomes = Builtin(folder.vectors, lambda: embedder_of(opened), opened.clock).embedded(outcomes)
    failed = [{"content_hash": each.hash, "error": each.error} for each in outcomes if not each.ok]
    return {"vectors": str(folder.vectors), "records": len(outcomes) - len(failed), "failed": failed}
