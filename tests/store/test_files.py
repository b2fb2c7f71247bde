from __future__ import annotations

import os
import resource
import stat
from pathlib import Path

import pytest

from lamina import errors
from lamina.store import files


def test_a_text_comes_back_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.md"
    text = "\ufeff# Ä\r\nmixed\nends\r"
    files.write_text(path, text)
    assert files.read_text(path) == text
    assert path.read_bytes() == text.encode()


def test_folders_and_files_are_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        files.write_text(tmp_path / "a" / "b" / "c.md", "x")
        files.append_line(tmp_path / "l" / "log", "x")
        files.overwrite(tmp_path / "o" / "cache", "x")
    finally:
        os.umask(old)
    for name in ("a", "a/b", "l", "o"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700
    for name in ("a/b/c.md", "l/log", "o/cache"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_a_link_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "dead").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "dead", "folder", "pipe"):
        for act in (files.read_text, lambda path: files.write_text(path, "y")):
            with pytest.raises(errors.UnsafePath, match=name):
                act(tmp_path / name)
    assert (tmp_path / "real").read_text() == "x"


def test_what_is_missing_and_what_is_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.NoSuchFile, match=r"a\.md"):
        files.read_text(tmp_path / "a.md")
    (tmp_path / "b.md").write_bytes(b"good\nbad \xff\xfe\n")
    with pytest.raises(errors.UnreadableFile, match=r"b\.md:2: is not UTF-8"):
        files.read_text(tmp_path / "b.md")


def test_a_file_that_changed_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    files.write_text(path, "one", expected=None)
    with pytest.raises(errors.ChangedMeanwhile):
        files.write_text(path, "two", expected=None)
    with pytest.raises(errors.ChangedMeanwhile):
        files.write_text(path, "two", expected=files.fingerprint("other"))
    assert path.read_text() == "one"
    files.write_text(path, "two", expected=files.fingerprint("one"))
    with pytest.raises(errors.ChangedMeanwhile):
        files.remove(path, expected=files.fingerprint("one"))
    assert path.read_text() == "two"
    assert os.listdir(tmp_path) == ["a.md"]


def test_half_a_character_is_refused_with_a_message(tmp_path: Path) -> None:
    with pytest.raises(errors.BadInput, match=r"U\+D800"):
        files.write_text(tmp_path / "a.md", "x\ud800y")
    assert os.listdir(tmp_path) == []


def test_a_full_disk_leaves_the_old_text(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    files.write_text(path, "old")
    with limited(1000), pytest.raises(errors.UnwritableStore) as caught:
        files.write_text(path, "n" * 5000)
    assert str(tmp_path) in caught.value.message
    assert "free some space" in caught.value.hint
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.md"]


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with pytest.raises(errors.LaminaError, match=str(tmp_path / "a")):
        files.write_text(tmp_path / "a" / "b.md", "x")
    with pytest.raises(errors.UnsafePath):
        files.read_text(tmp_path / "a" / "b.md")


def test_a_linked_folder_on_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "global").symlink_to(tmp_path / "other")
    with pytest.raises(errors.UnsafePath, match="global"):
        files.refuse_links(tmp_path, "global/semantic.md")


class limited:  # noqa: N801 - reads as a word of the test
    """No file of this process may grow beyond so many bytes: how a full disk looks from inside."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __enter__(self) -> None:
        import signal

        self.old = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, self.old[1]))

    def __exit__(self, *_: object) -> None:
        import signal

        resource.setrlimit(resource.RLIMIT_FSIZE, self.old)
        signal.signal(signal.SIGXFSZ, self.handler)


def test_many_that_make_one_folder_at_once_all_have_it(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        for number in range(300):
            wanted = tmp_path / str(number) / "a" / "b" / "c"
            list(pool.map(lambda _, wanted=wanted: files.make_dir(wanted), range(8)))
            assert wanted.is_dir()
