"""git, run safely: never a prompt, an editor, a hook or a signature, and never outside the repository named.

This is the only module that starts git. A machine without git has no history; everything else works.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lamina import errors
from lamina.formats.dates import parse_time, render_time
from lamina.store import files, journal, locks
from lamina.store.layout import LOCAL_FOLDERS, Layout

if TYPE_CHECKING:
    from subprocess import Popen

    from lamina.store.store import Store

NAME = "Lamina"
EMAIL = "lamina@localhost"
MISSING = 127
"""The code of a run on a machine without git."""

_GRACE_S = 5.0
_PIECE = 65_536
_STAGED_GRACE_S = 600.0
"""How long an automatic commit stays away from what a person staged: they may be committing it."""

_EXCLUDE = "git-exclude"
_MAX_LABELS = 20
_DROPPED = {
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_EXTERNAL_DIFF",
}
_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_PAGER": "cat",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "LC_ALL": "C",
}
_OPTIONS = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.autocrlf=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
)


class Ran(NamedTuple):
    """What one run of git gave."""

    code: int
    out: str
    err: str

    @property
    def ok(self) -> bool:
        """Whether git ended well."""
        return self.code == 0


def run(
    root: Path,
    args: Sequence[str],
    *,
    timeout_s: float = 30.0,
    options: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
) -> Ran:
    """Run git in the repository at or above `root`; a failure is a code, not an exception.

    `options` are further `-c` settings, `env` further variables. After `timeout_s` git and its children are
    ended by SIGTERM, and killed only if that does not help.
    """
    import subprocess

    pipe = None if stdin is None else subprocess.PIPE
    process = _begin(root, args, options=options, env=env, stdin=pipe)
    if isinstance(process, Ran):
        return process
    with process:
        try:
            out, err = process.communicate(None if stdin is None else stdin.encode(), timeout=timeout_s)
        except subprocess.TimeoutExpired:
            _end(process)
            return Ran(-1, "", f"git took longer than {timeout_s:g} s and was ended")
        except BaseException:
            _end(process)
            raise
    return Ran(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def head(
    root: Path,
    args: Sequence[str],
    *,
    most: int,
    timeout_s: float = 30.0,
    options: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Ran:
    """Run git and take at most `most` bytes of what it prints; git is ended when they are there.

    What came before the time was over counts too; the code is -1 where git did not end by itself. Bytes that
    are no UTF-8 become lone surrogates, so that names of files stay what they are.
    """
    import selectors
    import subprocess

    process = _begin(root, args, options=options, env=env, stderr=subprocess.DEVNULL)
    if isinstance(process, Ran):
        return process
    assert process.stdout is not None
    out, until, ended = bytearray(), time.monotonic() + timeout_s, False
    with process, selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)
        try:
            while len(out) < most and waiting.select(max(0.0, until - time.monotonic())):
                piece = os.read(process.stdout.fileno(), _PIECE)
                out += piece
                if not piece:
                    ended = True
                    break
        finally:
            if not ended:
                _end(process)
    text = bytes(out[:most]).decode("utf-8", "surrogateescape")
    return Ran(process.returncode if ended else -1, text, "")


def _begin(
    root: Path,
    args: Sequence[str],
    *,
    options: Sequence[str],
    env: Mapping[str, str] | None,
    stdin: int | None = None,
    stderr: int | None = None,
) -> Popen[bytes] | Ran:
    """Start git; a machine that can't start it gives the failure."""
    import subprocess

    settings = [part for option in (*_OPTIONS, *options) for part in ("-c", option)]
    try:
        return subprocess.Popen(
            ["git", "--no-pager", *settings, "-C", os.fspath(root), *args],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if stderr is None else stderr,
            env=_environment(env or {}),
            start_new_session=True,
            umask=0o077,  # what git writes is the store's: nobody else's to read
        )
    except FileNotFoundError:
        return Ran(MISSING, "", "git is not installed")
    except OSError as problem:
        return Ran(MISSING, "", f"git can't be started ({problem.strerror})")


def init(root: Path) -> bool:
    """Make the folder a repository of its own, on branch main; False without git."""
    if files.is_there(root / ".git"):
        return True
    made = run(root, ["init", "--quiet", "--template="], options=["init.defaultBranch=main"])
    with suppress(OSError):
        (root / ".git").chmod(0o700)  # git goes by the umask
    return made.ok and run(root, ["symbolic-ref", "HEAD", "refs/heads/main"]).ok


def is_own(root: Path) -> bool:
    """Tell whether `root` itself is the top of a repository, not a folder inside another one."""
    if not files.is_there(root / ".git"):
        return False
    top = _run_here(root, ["rev-parse", "--show-toplevel"])
    return top.ok and os.path.realpath(top.out.rstrip("\n")) == os.path.realpath(root)


def root_commits(path: Path) -> frozenset[str]:
    """Return the commits without parents behind HEAD; empty without git, a repository or a full history."""
    if run(path, ["rev-parse", "--is-shallow-repository"]).out.strip() != "false":
        return frozenset()
    return frozenset(run(path, ["rev-list", "--max-parents=0", "HEAD"]).out.split())


def mark_dirty(layout: Layout, at: datetime | None, label: str = "") -> None:
    """Note that there is something to commit, since when, and what did it."""
    since, labels = _dirt(layout.dirty)
    if since is not None and (not label or label in labels or len(labels) >= _MAX_LABELS):
        return
    began = since or (render_time(at) if at else "")
    data = {"labels": [*labels, label] if label else labels, "since": began}
    files.overwrite(layout.dirty, json.dumps(data, ensure_ascii=False))


def is_dirty(layout: Layout) -> bool:
    """Tell whether a write waits to be committed."""
    return files.is_there(layout.dirty) or files.is_there(layout.committing)


def commit_if_dirty(store: Store, *, now: datetime, older_than_s: float = 10.0) -> str | None:
    """Commit what was written, if the first write since the last commit is old enough; return the commit.

    None: nothing to do, too early, somebody else is at it, or `obstacle` tells why it has to wait.
    Raises GitFailed if git refuses; the mark stays, so the next call tries again.
    """
    layout = store.layout
    if store.read_only or not _is_due(layout, now, older_than_s):
        return None
    try:
        with locks.lock(layout.lock("git"), timeout_s=0):
            return _commit(store, now)
    except errors.Busy:
        return None


def obstacle(root: Path) -> str:
    """Say why an automatic commit has to wait for a person, or "" if it does not."""
    folder = root / ".git"
    if not folder.is_dir():
        return ""
    for name in (".gitignore", ".gitattributes"):
        if files.is_pipe(root / name):
            return f"{root / name} is no plain file; git would wait for it: move it away"
    if files.is_there(folder / "index.lock"):
        return f"{folder / 'index.lock'} exists: another git is at work, or one was killed (then remove it)"
    for name in ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"):
        if files.is_there(folder / name):
            return f"{folder / name} exists: finish or abort that git operation by hand"
    try:
        head = files.read_text(folder / "HEAD")
    except errors.LaminaError as problem:
        return problem.message
    return "" if head.startswith("ref:") else f"{root}: HEAD is detached; run git switch main"


def _commit(store: Store, now: datetime) -> str | None:
    layout, root = store.layout, store.root
    if not init(root) or obstacle(root):
        return None
    if not is_own(root):
        raise errors.GitFailed(f"{root}: its .git is damaged", f"look at it with: git -C {root} status")
    with locks.lock(layout.store_lock):
        journal.recover(layout)
        if _is_staged_by_person(layout, now):
            return None
        if files.is_there(layout.dirty):
            _start(layout)
        labels = _dirt(layout.committing)[1]
        added = _stage(layout)
    done = _record(root, "Update memory" + (f": {', '.join(labels)}" if labels else ""))
    if not added.ok:
        _give_back(layout)  # what could not be staged is tried again; the rest stands in the commit
        raise errors.GitFailed(
            f"{root}: git add failed: {_first_line(added.err)}", "lamina doctor tells more"
        )
    files.discard(layout.committing)
    return done


def _record(root: Path, message: str) -> str | None:
    if _run_here(root, ["diff", "--cached", "--quiet"]).ok:
        return None
    done = _run_here(
        root,
        ["commit", "--quiet", "--no-verify", "--no-edit", "-m", message],
        timeout_s=120,
        options=_identity(root),
    )
    if not done.ok:
        raise errors.GitFailed(
            f"{root}: git commit failed: {_last_line(done.err or done.out)}", "lamina doctor tells more"
        )
    return _run_here(root, ["rev-parse", "HEAD"]).out.strip() or None


def _start(layout: Layout) -> None:
    try:
        layout.dirty.replace(layout.committing)
    except OSError as problem:
        raise files.unwritable(layout.committing, problem) from problem


def _stage(layout: Layout) -> Ran:
    """Stage everything but local files, even if somebody's .gitignore lets those through."""
    excluded = "".join(f"/{name}/\n" for name in LOCAL_FOLDERS) + f"{files.TEMPORARY}*.tmp\n"
    files.overwrite(layout.state / _EXCLUDE, excluded)
    added = _run_here(layout.root, ["add", "-A", "--ignore-errors", "--", "."], timeout_s=120)
    removed = _run_here(layout.root, ["rm", "-r", "-q", "--cached", "--ignore-unmatch", "--", *LOCAL_FOLDERS])
    return added if removed.ok else removed


def _identity(root: Path) -> list[str]:
    """Use the configured identity, else Lamina's own."""
    asked = ["user.useConfigOnly=true"]
    known = all(
        _run_here(root, ["var", f"GIT_{who}_IDENT"], options=asked).ok for who in ("AUTHOR", "COMMITTER")
    )
    return [] if known else [f"user.name={NAME}", f"user.email={EMAIL}"]


def _run_here(
    root: Path, args: Sequence[str], *, timeout_s: float = 30.0, options: Sequence[str] = ()
) -> Ran:
    """Run git in the store's own repository, never in one above it, and whatever the machine ignores."""
    own = [f"core.excludesFile={root / 'state' / _EXCLUDE}", f"safe.directory={os.path.realpath(root)}"]
    ceiling = {"GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.realpath(root))}  # noqa: PTH120
    return run(root, args, timeout_s=timeout_s, options=[*own, *options], env=ceiling)


def _is_staged_by_person(layout: Layout, now: datetime) -> bool:
    """Tell whether a person staged something and may be committing it right now."""
    if files.is_there(layout.committing) or _run_here(layout.root, ["diff", "--cached", "--quiet"]).ok:
        return False
    if not _run_here(layout.root, ["rev-parse", "--verify", "--quiet", "HEAD"]).ok:
        return False
    return not _is_due(layout, now, _STAGED_GRACE_S)


def _is_due(layout: Layout, now: datetime, older_than_s: float) -> bool:
    if files.is_there(layout.committing):
        return True
    since, _ = _dirt(layout.dirty)
    if since is None:
        return False
    began = parse_time(since)
    if began is None:
        return True
    age = (now - began).total_seconds()
    return age >= older_than_s or age < -60  # a clock that jumped back must not hold commits up


def _dirt(path: Path) -> tuple[str | None, list[str]]:
    """Read a dirty mark: since when ("" unknown, None no mark), and what wrote."""
    try:
        data = files.parse_json(files.read_text(path))
        return str(data["since"]), [str(label) for label in data["labels"]]
    except errors.NoSuchFile:
        return None, []
    except (errors.LaminaError, ValueError, KeyError, TypeError):
        return "", []


def _give_back(layout: Layout) -> None:
    """Let the next call try again; a mark made meanwhile is as good."""
    try:
        layout.committing.replace(layout.dirty)
    except OSError:
        return


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in _DROPPED}
    kept.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    return {**kept, **_FIXED, **extra}


def _end(process: Popen[bytes]) -> None:
    """End git and its children, politely first: a killed git leaves its lock files behind."""
    import signal
    import subprocess

    kill = getattr(os, "killpg", None)
    for name, wait in (("SIGTERM", _GRACE_S), ("SIGKILL", _GRACE_S)):
        number = getattr(signal, name, signal.SIGTERM)
        try:
            if kill is None:
                process.terminate()
            else:
                kill(process.pid, number)
            process.wait(wait)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        return


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "no message"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def last_commit(root: Path) -> str | None:
    """Return the time of the store's last commit, in UTC; None before the first one or without git."""
    if not files.is_there(root / ".git"):
        return None
    shown = _run_here(root, ["log", "-1", "--format=%ct"])
    stamp = shown.out.strip()
    return render_time(datetime.fromtimestamp(int(stamp), UTC)) if shown.ok and stamp.isdigit() else None
