"""What a shell command or a patch is about: the programs and the files that an entry may name.

Nothing is run or looked up; a command that can't be read as a shell reads it says less, never an error.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator

Names = tuple[str, ...]
"""What one program or file may be called in an entry, the most exact first."""

MOST = 6
"""Programs and files that are asked about for one call."""
_MOST_SEGMENTS = 40
_MOST_NESTED = 3

_PATCHED = re.compile(r"^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+?)[ \t\r]*$", re.MULTILINE)
_HERE = re.compile(
    r"<<-?[ \t]*(['\"]?)(\w+)\1[^\n]*\n(.*?)(?:^[ \t]*\2[ \t\r]*$|\Z)", re.DOTALL | re.MULTILINE
)
_TOKEN = re.compile(
    r"(?P<redirect>\d*&?[<>]+[&|]?(?!\())"
    r"|(?P<end>[();|&\n]+|[<>]\()"
    r"|(?P<word>(?:\\.|\"(?:[^\"\\]|\\.)*\"|'[^']*'|[\"'\\]|[^\s\"'\\();<>|&])+)",
    re.DOTALL,
)
_ASSIGNED = re.compile(r"\w+\+?=")
_BACKSLASH = re.compile(r"(?<=[\w.:])\\(?=[\w.])")
_PROGRAM = re.compile(r"[\w.@+-]*[^\W\d_][\w.@+-]*")
_FILE = re.compile(r"[^\s*?$={}\[\]:]*(?:/[^\s*?$={}\[\]:]+|[^\s*?$={}\[\]:/]\.\w{1,8})")

_KEYWORDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "fish", "eval"})
_INTERPRETERS = {
    "python": ("-X", "-W"), "node": ("-r", "--require", "--import"), "ruby": ("-I", "-r"), "perl": ("-I",),
    "tsx": (), "ts-node": ("-P",), "php": ("-d", "-c"), "pwsh": (), "powershell": (),
}  # fmt: skip
_PLACED = {"timeout": 1, "flock": 1, "chroot": 1}
"""Wrappers that take words of their own before the command."""
_WRAPPERS = {
    "sudo": "-u -g -h -p -C -D -R -T -U -r -t --user --group --host --chdir", "doas": "-u -C",
    "env": "-u -C --unset --chdir", "time": "-f -o --format --output", "nohup": "", "exec": "-a",
    "timeout": "-s -k --signal --kill-after", "nice": "-n --adjustment", "ionice": "-c -n -p",
    "stdbuf": "-i -o -e", "setsid": "", "command": "", "builtin": "", "watch": "-n --interval",
    "xargs": "-n -P -I -L -d -s -E -a --max-args --max-procs --replace --delimiter", "flock": "-w",
    "chroot": "", "caffeinate": "-t", "npx": "-p --package", "pnpx": "", "bunx": "", "pipx run": "--spec",
    "uvx": "--with --from --python -p", "pnpm dlx": "", "pnpm exec": "", "yarn dlx": "-p", "yarn exec": "",
    "npm exec": "-p --package", "bundle exec": "", "pipenv run": "", "poetry run": "", "pdm run": "",
    "hatch run": "", "rye run": "", "pixi run": "-e", "conda run": "-n -p --name --prefix",
    "uv run": "--with --python -p --extra --group --project --directory --env-file --package --with-editable",
}  # fmt: skip
_GENERAL = {
    "git": "-C -c --git-dir --work-tree --namespace", "npm": "--prefix -w --workspace -C",
    "pnpm": "-C --dir -F --filter", "yarn": "--cwd", "bun": "--cwd", "deno": "", "make": "-C -f -I -o -W",
    "gmake": "-C -f", "just": "-f -d --justfile", "rake": "-f", "task": "-t -d", "ninja": "-C -f -j",
    "cargo": "--config -Z", "go": "-C", "docker": "-H -c --context --config --log-level", "podman": "",
    "docker-compose": "-f -p --file --profile", "kubectl": "-n --namespace --context --kubeconfig",
    "helm": "-n --namespace --kube-context", "terraform": "", "gh": "-R --repo",
    "uv": "--directory --project", "pip": "--python", "pipx": "", "poetry": "-C --directory -P",
    "pipenv": "", "pdm": "-p", "hatch": "-e",
    "rye": "", "pixi": "", "conda": "", "bundle": "", "gem": "", "brew": "", "apt": "-t -o",
    "apt-get": "-t -o", "systemctl": "-H -M", "aws": "--profile --region --endpoint-url",
    "gcloud": "--project --account",
    "az": "", "mvn": "-f -pl -P -s", "gradle": "-p -b", "gradlew": "-p", "dotnet": "", "swift": "", "mix": "",
    "rails": "", "composer": "-d", "bazel": "", "flutter": "", "heroku": "-a", "vercel": "", "fly": "-a",
    "cmake": "-S -B -G", "nix": "", "svn": "", "hg": "-R", "jj": "-R",
}  # fmt: skip
"""Programs that say nothing alone, with those of their options that take a word of their own."""
_MANY = frozenset({"make", "gmake", "just", "rake", "task", "ninja", "mvn", "gradle", "gradlew"})
_SCRIPTED = frozenset({"npm", "pnpm", "yarn", "bun"})
_TOUCHING = {
    "cat": 0, "head": 0, "tail": 0, "less": 0, "more": 0, "bat": 0, "wc": 0, "vi": 0, "vim": 0, "nvim": 0,
    "nano": 0, "rm": 0, "cp": 0, "mv": 0, "ln": 0, "touch": 0, "tee": 0, "diff": 0, "source": 0,
    ".": 0, "chmod": 1, "chown": 1, "sed": 1, "awk": 1, "grep": 1, "egrep": 1, "rg": 1, "jq": 1, "perl": 1,
}  # fmt: skip
"""Programs that are about the files they are given, with how many words come before these."""
_SILENT = frozenset(
    "cd pushd popd ls ll pwd echo printf true false : test [ [[ export set unset read sleep wait exit return "
    "which type kill alias history clear mkdir rmdir date whoami id hash ulimit umask trap shift local "
    "declare for case esac fi done function in select find fd tree stat file du df sort uniq cut tr".split()
)


def patched(text: str) -> tuple[str, ...]:
    """Return the files that a patch in the form of `*** Update File: PATH` changes, in its order."""
    if "*** Begin Patch" in text and "*** End Patch" not in text:
        text = text.rpartition("\n")[0]  # it was cut: its last line may be half a path
    return tuple(dict.fromkeys(_PATCHED.findall(text)))[:MOST]


def file_names(path: str, cwd: str = "") -> Names:
    """Return what a file may be called in an entry: its path in the project, and its own name."""
    path, cwd = (each.replace("\\", "/") if _is_windows(each) else each for each in (path, cwd))
    path = posixpath.normpath(path)
    inside = path.removeprefix(f"{posixpath.normpath(cwd)}/") if cwd else path
    name = posixpath.basename(path)
    is_outside = inside.startswith(("/", "..", "~")) or inside[1:3] == ":/"
    if not name.strip("."):
        return ()
    return (name,) if is_outside or inside == name else (inside, name)


def subjects(text: str, cwd: str = "") -> tuple[Names, ...]:
    """Return the programs and files that a command is about, in its order."""
    files = patched(text)
    found = [file_names(path, cwd) for path in files] if files else list(_commands(text, cwd, _MOST_NESTED))
    return tuple(dict.fromkeys(names for names in found if names))[:MOST]


def _is_windows(path: str) -> bool:
    return "\\" in path and (path[1:2] == ":" or "/" not in path)


def _commands(text: str, cwd: str, depth: int) -> Iterator[Names]:
    """Return the subjects of each simple command in a text."""
    text = _HERE.sub(lambda found: found[0][: found.start(3) - found.start() - 1] + "\n", text)
    for words, written in _segments(text.replace("\\\n", " ")):
        yield from (file_names(path, cwd) for path in written if _is_file(path))
        yield from _command(_unwrapped(words), cwd, depth)


def _segments(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Split a text where one command ends; returns the words of each and the files it writes to or reads."""
    words: list[str] = []
    files: list[str] = []
    count, into = 0, words
    for token in _TOKEN.finditer(f"{text}\n"):
        if token.lastgroup == "end":
            if words or files:
                yield words, files
                count += 1
            words, files = [], []
            into = words
            if count == _MOST_SEGMENTS:
                return
        elif token.lastgroup == "redirect":
            into = [] if "&" in token[0][1:] or "<<" in token[0] else files
        else:
            into.append(_word(token[0]))
            into = words


def _word(raw: str) -> str:
    """Return a word without its quotes, as far as they can be read."""
    if "'" not in raw and '"' not in raw:
        raw = _BACKSLASH.sub("/", raw)  # a path of Windows
    try:
        return " ".join(shlex.split(raw))
    except ValueError:
        return raw.strip("\"'\\")


def _unwrapped(words: list[str]) -> list[str]:
    """Drop what stands before the program: assignments, keywords, and programs that only run another."""
    while words:
        name, two = _program(words[0]), " ".join((_program(words[0]), *words[1:2]))
        if words[0].startswith("#"):
            return []
        if _ASSIGNED.match(words[0]) or words[0] in _KEYWORDS:
            words = words[1:]
        elif two in _WRAPPERS:
            words = _after_options(words[2:], _WRAPPERS[two])
        elif name in _WRAPPERS:
            words = _after_options(words[1:], _WRAPPERS[name])[_PLACED.get(name, 0) :]
        else:
            break
    return words


def _after_options(words: list[str], valued: str) -> list[str]:
    """Drop the options in front; `-m NAME` of a wrapper stays, for it names what is run."""
    takes = valued.split()
    while words and words[0].startswith(("-", "+")) and words[0] != "-m":
        if words[0] == "--":
            return words[1:]
        words = words[2 if words[0] in takes else 1 :]
    return words[1:] if words[:1] == ["-m"] else words


def _program(word: str) -> str:
    """Return a program's name without its folder, its version and what Windows puts behind it."""
    name = re.sub(r"\.(?:exe|cmd|bat)$", "", posixpath.basename(word))
    return re.sub(r"^(python|pip|node|ruby|php)w?[\d.]+$", r"\1", name)


def _command(words: list[str], cwd: str, depth: int) -> Iterator[Names]:
    """Return what one simple command is about."""
    if not words or _program(words[0]) in _SILENT or words[0].startswith(("#", "$", "-")):
        return
    name, rest = _program(words[0]), words[1:]
    if name in _SHELLS or name in _INTERPRETERS:
        yield from _script(name, rest, cwd, depth)
    elif name in _TOUCHING:
        given = [word for word in rest if not word.startswith("-")][_TOUCHING[name] :]
        yield from (file_names(word, cwd) for word in given if _is_file(word))
    elif name in _GENERAL:
        yield from ((each,) for each in _told(name, _after_options(rest, _GENERAL[name])))
    elif "/" in words[0] and posixpath.basename(posixpath.dirname(words[0])) not in (
        "bin",
        ".bin",
        "sbin",
        "Scripts",
    ):
        yield file_names(words[0], cwd)
    elif _PROGRAM.fullmatch(name):
        yield (name,)


def _script(name: str, rest: list[str], cwd: str, depth: int) -> Iterator[Names]:
    """Return what an interpreter runs: a command in a text, a module, or a file."""
    takes = _INTERPRETERS.get(name, ())
    while rest and rest[0].startswith("-"):
        option, rest = rest[0], rest[2 if rest[0] in takes else 1 :]
        if name in _SHELLS and "c" in option and not option.startswith("--"):
            break
        if name == "python" and option == "-m":
            yield from _command(rest, cwd, depth)
            return
        if option in ("-c", "-e", "-p", "--eval", "-"):
            return
    else:
        if name != "eval":
            yield from (file_names(word, cwd) for word in rest[:1] if _is_file(word))
            return
    if depth:  # a host that tells the words of `bash -lc TEXT` one by one has taken its quotes away
        yield from _commands(" ".join(rest), cwd, depth - 1)


def _told(name: str, rest: list[str]) -> Iterator[str]:
    """Return a general program with what it is told to do."""
    words = [word for word in rest if not word.startswith(("-", "+")) and not _ASSIGNED.match(word)]
    words = [word for word in words if _PROGRAM.fullmatch(word.replace(":", "").replace("/", ""))]
    if name in _SCRIPTED and words[:1] in (["run"], ["run-script"]):
        words = [f"run {words[1]}"] if words[1:] else []
    yield from (f"{name} {word}" for word in (words if name in _MANY else words[:1]))


def _is_file(word: str) -> bool:
    return not word.startswith(("/dev/", "-")) and "://" not in word and bool(_FILE.fullmatch(word))
