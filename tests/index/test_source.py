from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

from lamina.errors import LaminaError
from lamina.index.base import Query
from lamina.index.embedded import Embedded
from lamina.index.source import StoreSource, index_home

ENTRY = """# Auth tokens

## Use JWT

**Id:** lamina-dec-0007
**Date:** 2026-11-30
**Importance:** 4
**Source:** session:claude-code/4f3a#120-188
**Evidence:** “plain ESM please” (user)
**Volatility:** stable
**Owner:** Bob
**Alias:** lamina-dec-0003

We use JWT tokens.

## Second

By hand.
"""


def put(root: Path, rel: str, text: str) -> Path:
    path = root / rel
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_an_entry_is_read_with_all_that_is_known_about_it(tmp_path: Path) -> None:
    put(tmp_path, "workspaces/lamina/decisions/auth.md", ENTRY)
    first, second = StoreSource(tmp_path).read("workspaces/lamina/decisions/auth.md").documents
    assert first == first._replace(
        id="lamina-dec-0007", scope="workspace:lamina", layer="decisions", topic="Auth tokens", heading="Use JWT",
        text="We use JWT tokens.", line=3, date=date(2026, 11, 30), importance=4, trust="approved",
        volatility="stable", source="session:claude-code/4f3a#120-188",
    )  # fmt: skip
    assert "lamina-dec-0003" in first.more
    assert "Bob" in first.more
    assert "plain ESM please" in first.more
    assert (second.id, second.heading, second.text, second.line) == ("", "Second", "By hand.", 16)


def test_only_searchable_plain_files_of_valid_scopes_are_listed(tmp_path: Path) -> None:
    listed = [
        "global/semantic/a.md",
        "global/decisions.md",
        "workspaces/lamina/state.md",
        "workspaces/lamina/history/2026-11-30.md",
        "workspaces/lamina/codebase/index.md",
    ]
    left_out = [
        "global/junk.md",
        "global/INDEX.md",
        "workspaces/lamina/working.md",
        "workspaces/lamina/checkpoint.md",
        "workspaces/NOT A KEY/semantic/a.md",
        "workspaces/lamina/logs/a.md",
        "global/semantic/.hidden.md",
        "global/semantic/a.txt",
        "global/semantic/deep/a.md",
        "digests/note.md",
        "SYSTEM.md",
    ]
    for rel in (*listed, *left_out):
        put(tmp_path, rel, "# T\n\n## E\n\nbody\n")
    outside = put(tmp_path, "outside/secret.md", "# S\n\n## E\n\nsecret\n")
    (tmp_path / "global/semantic/link.md").symlink_to(outside)
    (tmp_path / "global/learnings").symlink_to(outside.parent)
    (tmp_path / "workspaces/linked").symlink_to(tmp_path / "workspaces/lamina")
    os.mkfifo(tmp_path / "global/semantic/pipe.md")
    source = StoreSource(tmp_path)
    assert sorted(source.stamps()) == sorted(listed)
    everything = [
        *listed,
        *left_out,
        "global/semantic/link.md",
        "global/semantic/pipe.md",
        "../x.md",
        "never.md",
    ]
    assert source.stamps(everything) == source.stamps()


def test_a_link_is_refused_also_when_it_is_named(tmp_path: Path) -> None:
    outside = put(tmp_path, "outside/secret.md", "# S\n\n## E\n\nsecret\n")
    (tmp_path / "global").mkdir()
    (tmp_path / "global/semantic").symlink_to(outside.parent)
    with pytest.raises(LaminaError):
        StoreSource(tmp_path).read("global/semantic/secret.md")


def test_no_store_is_an_empty_one(tmp_path: Path) -> None:
    assert StoreSource(tmp_path / "none").stamps() == {}


def test_a_single_file_of_old_shape_is_read_and_a_generated_list_is_not(tmp_path: Path) -> None:
    put(tmp_path, "global/semantic.md", "# Semantic\n\n## Old entry\n\nStill here.\n")
    put(tmp_path, "global/decisions.md", "# Decisions\n\n- [A](decisions/a.md) — 1 entry\n")
    source = StoreSource(tmp_path)
    (old,) = source.read("global/semantic.md").documents
    assert (old.heading, old.topic) == ("Old entry", "Semantic")
    assert source.read("global/decisions.md").documents == ()


def test_the_state_is_searchable_by_section(tmp_path: Path) -> None:
    text = (
        "# State\n\n## Health\n\n**Verified:** 2026-11-30T12:00:00Z\n\nAll pass.\n\n## Layout\n\nsrc only\n"
    )
    put(tmp_path, "workspaces/lamina/state.md", text)
    health, layout = StoreSource(tmp_path).read("workspaces/lamina/state.md").documents
    assert (health.heading, health.text, health.line, health.verified) == (
        "Health",
        "All pass.",
        3,
        date(2026, 11, 30),
    )
    assert (layout.line, layout.verified, layout.layer) == (9, None, "state")


def test_a_file_that_is_no_utf8_is_searchable_as_far_as_it_can_be_read(tmp_path: Path) -> None:
    path = put(tmp_path, "global/semantic/a.md", "")
    path.write_bytes(b"# T\r\n\r\n## Entry\r\n\r\ngateway \xff port\r\n")
    index = Embedded(tmp_path / "index")
    index.refresh(StoreSource(tmp_path))
    assert len(index.search(Query("gateway")).matches) == 1


@pytest.mark.parametrize(
    ("kind", "moved"),
    [
        ("ext4", False),
        ("nfs", True),
        ("nfs4", True),
        ("cifs", True),
        ("fuse.sshfs", True),
        ("9p", True),
        ("tmpfs", False),
    ],
)
def test_the_index_moves_to_the_cache_when_the_store_is_on_a_network_disk(kind: str, moved: bool) -> None:
    mounts = f"/dev/sda / ext4 rw 0 0\nserver:/home /mnt/my\\040home {kind} rw 0 0\n"
    home = index_home("/mnt/my home/store", {"XDG_CACHE_HOME": "/cache"}, mounts)
    assert home.startswith("/cache/lamina/index-") is moved
    assert (home == "/mnt/my home/store/index") is not moved
    assert index_home("/mnt/my homeless/store", {}, mounts) == "/mnt/my homeless/store/index"


def test_two_stores_on_network_disks_have_two_indexes() -> None:
    mounts = "s:/ /net nfs rw 0 0\n"
    homes = {index_home(f"/net/{name}", {"HOME": "/home/me"}, mounts) for name in "ab"}
    assert len(homes) == 2
    assert all(home.startswith("/home/me/.cache/lamina/index-") for home in homes)


def test_a_file_whose_name_is_no_text_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, "global/semantic/a.md", "## A heading\n\ntext\n")
    odd = os.fsencode(tmp_path / "global/semantic") + b"/\xff.md"
    with open(odd, "wb") as file:  # noqa: PTH123 - a name that pathlib would only pass on
        file.write(b"## B\n")
    assert list(StoreSource(tmp_path).stamps()) == ["global/semantic/a.md"]
