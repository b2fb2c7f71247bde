"""The memory folder of a project: found where the project says, never outside of it unasked, safely written."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina import errors
from lamina.formats.declared import declared, pointed
from lamina.store import files, memoryfolder
from lamina.store.memoryfolder import locked, read, read_dailies, replace, resolve

NAME = "2026-11-30-esm-memory.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path / "harbor"
    found.mkdir()
    return found


def say(root: Path, text: str, name: str = "AGENTS.md") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# --- where it is


def test_without_a_declaration_it_is_memory_at_the_root_and_nothing_is_made(root):
    found = resolve(root)
    assert (found.root, found.path, found.prefix) == (root, root / "memory", "memory")
    assert (found.digest, found.vectors) == (root / "memory/digest.md", root / "memory/vectors.db")
    assert found.rel(NAME) == f"memory/{NAME}"
    assert os.listdir(root) == []


@pytest.mark.parametrize(
    "line",
    [
        "Memory path: docs/mem",
        "memory PATH : docs/mem",
        "- Memory path: docs/mem",
        "* **Memory path:** docs/mem",
        "+ **Memory path**: docs/mem",
        "3. Memory path: docs/mem",
        "  - Memory path: `docs/mem`",
        "**Memory path:** `docs/mem`.",
        "Memory path: `docs/mem` (ask before you move it)",
        'Memory path: "docs/mem"',
        "**Memory path: docs/mem**",
        "`Memory path`: docs/mem",
        "Memory path: ./docs/mem/",
        "Memory path: docs/../docs/mem",
        "\ufeffMemory path: docs/mem",
        "# Rules\r\n\r\nMemory path: docs/mem\r\n",
    ],
)
@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md"])
def test_a_line_in_an_instruction_file_says_where(root, line, name):
    say(root, line, name)
    assert resolve(root).path == root / "docs/mem"
    assert resolve(root).prefix == "docs/mem"


@pytest.mark.parametrize(
    "text",
    [
        "The memory path: is a thing of the past",
        "```\nMemory path: docs/mem\n```",
        "~~~\nMemory path: docs/mem\n~~~",
        "Memory path:",
        "Memory path: ``",
        "Memory paths: docs/mem",
        "> Memory path: docs/mem",
        f"Memory path: {'x' * 2_000}",
    ],
)
def test_what_only_looks_like_a_declaration_says_nothing(root, text):
    say(root, text)
    assert resolve(root).path == root / "memory"


def test_spaces_and_any_script_may_stand_in_a_path(root):
    say(root, "Memory path: `Das Gedächtnis/記憶`")
    assert resolve(root).path == root / "Das Gedächtnis/記憶"


@pytest.mark.parametrize(
    "pointer", ["@docs/agents.md", "See [the rules](docs/agents.md).", "Read `docs/agents.md` first."]
)
def test_a_file_that_is_named_exactly_is_read_too(root, pointer):
    say(root, pointer)
    say(root, "Memory path: notes", "docs/agents.md")
    assert resolve(root).path == root / "notes"


def test_files_that_nobody_names_are_not_read_nor_those_that_a_named_one_names(root):
    say(root, "Memory path: a", "docs/AGENTS.md")
    say(root, "Memory path: b", "sub/CLAUDE.md")
    assert resolve(root).path == root / "memory"
    say(root, "@one.md")
    say(root, "@two.md", "one.md")
    say(root, "Memory path: c", "two.md")
    assert resolve(root).path == root / "memory"


def test_a_pointer_in_a_fence_or_out_of_the_project_is_not_followed(root):
    say(root, "Memory path: notes", "docs/agents.md")
    say(root.parent, "Memory path: other", "beside.md")
    say(root, "```\n@docs/agents.md\n```\n\n@../beside.md\n")
    assert resolve(root).path == root / "memory"


def test_two_names_of_one_folder_are_no_conflict(root):
    say(root, "Memory path: notes\nMemory path: ./notes/")
    say(root, "Memory path: docs/../notes", "CLAUDE.md")
    assert resolve(root, setting="notes").path == root / "notes"


def test_declarations_that_disagree_stop_and_name_each_place(root):
    say(root, "# Rules\n\nMemory path: one\n")
    say(root, "Memory path: two\n", "CLAUDE.md")
    with pytest.raises(errors.Undecided) as caught:
        resolve(root)
    assert "AGENTS.md:3: one" in caught.value.message
    assert "CLAUDE.md:1: two" in caught.value.message
    assert caught.value.choices == (f"--memory-path {root}/one", f"--memory-path {root}/two")
    assert caught.value.exit_code == 3
    assert resolve(root, given=root / "two").path == root / "two"


def test_a_setting_that_disagrees_with_a_declaration_stops_too(root):
    say(root, "Memory path: one\n")
    with pytest.raises(errors.Undecided, match=r"\.lamina\.toml: two"):
        resolve(root, setting="two")
    assert resolve(root, setting="one").path == root / "one"


@pytest.mark.parametrize("path", ["..", "../other", "/", "docs/../../other", "~"])
def test_a_declaration_never_leads_out_of_the_project(root, path):
    say(root, f"Memory path: {path}")
    if path == "~":
        assert resolve(root).path == root / "~"
        return
    with pytest.raises(errors.Undecided, match="leads out of the project") as caught:
        resolve(root)
    assert caught.value.choices == (f"--memory-path {os.path.realpath(root / path)}",)


def test_what_is_outside_is_judged_by_the_real_path(root, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (root / "memory").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(errors.Undecided, match="leads out of the project"):
        resolve(root)
    assert resolve(root, given=root / "memory").path == tmp_path / "elsewhere"
    (root / "memory").unlink()
    (root / "real").mkdir()
    (root / "memory").symlink_to("real")
    assert resolve(root).path == root / "real"


def test_a_project_behind_a_link_is_a_project(root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    say(root, "Memory path: notes")
    assert resolve(tmp_path / "link").path == root / "notes"


def test_a_path_that_the_person_gives_may_lie_anywhere(root, tmp_path):
    found = resolve(root, given=tmp_path / "far")
    assert (found.path, found.prefix) == (tmp_path / "far", "memory")
    assert found.rel(NAME) == f"memory/{NAME}"
    assert resolve(root, given=root).prefix == ""
    assert resolve(root, given=root).rel(NAME) == NAME


def test_a_folder_that_is_a_file_and_a_root_that_is_none_are_refused(root):
    (root / "memory").write_text("")
    with pytest.raises(errors.UnsafePath, match="is not a folder"):
        resolve(root)
    with pytest.raises(errors.NoSuchFile):
        resolve(root / "nowhere")


def test_an_instruction_file_that_leads_out_or_is_no_file_is_passed_over(root, tmp_path):
    (tmp_path / "theirs.md").write_text("Memory path: stolen")
    (root / "AGENTS.md").symlink_to(tmp_path / "theirs.md")
    os.mkfifo(root / "CLAUDE.md")
    assert resolve(root).path == root / "memory"


@given(st.text(max_size=200))
def test_any_text_is_read_without_a_failure(text):
    declared(text)
    pointed(text)


def test_declarations_are_told_with_their_lines():
    assert declared("a\n- Memory path: x\n\nMemory path: `y z`\n") == [(2, "x"), (4, "y z")]


# --- daily files


def test_daily_files_are_read_oldest_first_and_nothing_else_is(root):
    memory = root / "memory"
    (memory / "2026-01-01-folder-memory.md").mkdir(parents=True)
    for name in (
        "2026-12-01-b-memory.md",
        "2026-11-30-z-memory.md",
        "2026-11-30-a-memory.md",
        "digest.md",
        "2026-11-30-memory.md",
        "2026-13-30-x-memory.md",
        "notes-memory.md",
        "2026-11-30-x-memory.txt",
    ):
        (memory / name).write_text(name)  # fmt: skip
    found = read_dailies(resolve(root))
    assert list(found.data) == ["2026-11-30-a-memory.md", "2026-11-30-z-memory.md", "2026-12-01-b-memory.md"]
    assert str(found.day("2026-12-01-b-memory.md")) == "2026-12-01"
    assert len(found.problems) == 1
    assert "2026-01-01-folder-memory.md" in found.problems[0]


def test_links_and_special_files_are_named_and_left_out(root, tmp_path):
    memory = root / "memory"
    memory.mkdir()
    (tmp_path / "secret").write_text("their words")
    (memory / "2026-11-30-link-memory.md").symlink_to(tmp_path / "secret")
    os.mkfifo(memory / "2026-11-30-pipe-memory.md")
    (memory / NAME).write_text("ours")
    found = read_dailies(resolve(root))
    assert dict(found.data) == {NAME: b"ours"}
    assert len(found.problems) == 2


def test_a_folder_that_is_not_there_has_no_daily_files(root):
    assert read_dailies(resolve(root)).data == {}


# --- reading and replacing


def test_a_digest_that_is_a_link_or_no_text_is_refused(root, tmp_path):
    path = root / "digest.md"
    assert read(path) is None
    (tmp_path / "other").write_text("x")
    path.symlink_to(tmp_path / "other")
    with pytest.raises(errors.UnsafePath):
        read(path)
    with pytest.raises(errors.UnsafePath):
        replace(path, "new", old="x")
    assert (tmp_path / "other").read_text() == "x"
    path.unlink()
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(errors.UnreadableFile):
        read(path)


def test_breaks_and_byte_order_mark_come_back_as_they_are(root):
    path = root / "digest.md"
    replace(path, "\ufeffa\r\nb\n", old=None)
    assert path.read_bytes() == b"\xef\xbb\xbfa\r\nb\n"
    assert read(path) == "\ufeffa\r\nb\n"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o640])
def test_a_file_keeps_its_rights(root, mode):
    path = root / "digest.md"
    path.write_text("old")
    path.chmod(mode)
    replace(path, "new", old="old")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_gets_the_rights_of_the_projects_files(root):
    (root / "beside").write_text("")
    replace(root / "memory/digest.md", "new", old=None)
    assert (root / "memory/digest.md").stat().st_mode == (root / "beside").stat().st_mode


def test_what_was_changed_meanwhile_is_not_overwritten(root):
    path = root / "digest.md"
    path.write_text("theirs")
    for old in ("ours", None):
        with pytest.raises(errors.ChangedMeanwhile):
            replace(path, "new", old=old)
    path.unlink()
    with pytest.raises(errors.ChangedMeanwhile):
        replace(path, "new", old="ours")
    assert os.listdir(root) == []


def test_a_folder_where_a_file_is_needed_is_refused(root):
    (root / "digest.md").mkdir()
    with pytest.raises(errors.LaminaError):
        replace(root / "digest.md", "new", old=None)
    assert os.listdir(root) == ["digest.md"]


LIMITED = """
import resource, signal, sys
from pathlib import Path
from lamina import errors
from lamina.store.memoryfolder import replace
path, size = Path(sys.argv[1]), int(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_DFL if sys.argv[3] == "kill" else signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    replace(path, "new " * 50, old="old")
except errors.UnwritableStore:
    sys.exit(7)
"""


@pytest.mark.parametrize("size", [0, 1, 2, 100, 199, 200])
@pytest.mark.parametrize("way", ["kill", "full"])
def test_a_write_that_ends_at_any_byte_leaves_the_old_file_or_the_new_one(root, size, way):
    path = root / "digest.md"
    path.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(size), way],
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    ended = -signal.SIGXFSZ if way == "kill" else 7
    assert done.returncode == (0 if size >= 200 else ended)
    assert path.read_text() == ("new " * 50 if size >= 200 else "old")
    with locked(memoryfolder.MemoryFolder(root, root, "")):
        assert os.listdir(root) == ["digest.md"]


# --- one command at a time


def test_a_lock_makes_no_file_and_no_folder_unless_asked(root):
    folder = resolve(root)
    with pytest.raises(errors.NoSuchFile), locked(folder):
        pass
    with locked(folder, make=True):
        assert os.listdir(folder.path) == []
    assert os.listdir(folder.path) == []


def test_what_a_killed_command_left_is_cleared_away_and_nothing_else(root):
    folder = resolve(root)
    folder.path.mkdir()
    (folder.path / f"{files.TEMPORARY}1-1-a.tmp").write_text("half")
    (folder.path / "mine.tmp").write_text("whole")
    with locked(folder):
        assert os.listdir(folder.path) == ["mine.tmp"]


WAITER = """
import sys
from pathlib import Path
from lamina.store.memoryfolder import MemoryFolder, locked, read, replace
root = Path(sys.argv[1])
for _ in range(20):
    with locked(MemoryFolder(root, root, "")):
        old = read(root / "digest.md")
        replace(root / "digest.md", f"{int(old or 0) + 1}", old=old)
"""


def test_several_processes_write_one_after_the_other(root):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen([sys.executable, "-c", WAITER, str(root)], env=env) for _ in range(4)]
    assert [each.wait(timeout=120) for each in running] == [0] * 4
    assert (root / "digest.md").read_text() == "80"
