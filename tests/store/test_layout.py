from __future__ import annotations

from pathlib import Path

import pytest

from lamina import errors
from lamina.formats.scope import Scope
from lamina.store.layout import Layout, Place, is_local, place_of, safe_name

ROOT = Path("/s")


def test_paths_are_where_the_layout_says() -> None:
    layout = Layout(ROOT)
    assert layout.topic(Scope(None), "semantic", "store-root") == ROOT / "global/semantic/store-root.md"
    assert layout.layer_file(Scope("lamina"), "history") == ROOT / "workspaces/lamina/history.md"
    assert layout.suppressed(Scope(None)) == ROOT / "suppressed.jsonl"
    assert layout.suppressed(Scope("lamina")) == ROOT / "workspaces/lamina/suppressed.jsonl"
    assert layout.note("codex_1") == ROOT / "digests/codex_1.md"
    assert layout.rel(ROOT / "global" / "semantic.md") == "global/semantic.md"


@pytest.mark.parametrize("key", ["", "..", "a/b", "../x", "global", "con", "A", "a\0", "x" * 65])
def test_a_bad_key_never_becomes_a_path(key: str) -> None:
    with pytest.raises(errors.BadKey):
        Layout(ROOT).scope(Scope(key))


@pytest.mark.parametrize(
    "name",
    ["../escape", "/etc/cron.d/x", "../../../../tmp/pwned", "a/b", "a\\b", "nul", "AUX.md", "x.", "", "a\nb"],
)
def test_a_hostile_name_never_becomes_a_path(name: str) -> None:
    layout = Layout(ROOT)
    if not name.endswith("."):  # `x..md` is a fine name
        for make in (layout.note, layout.session, lambda each: layout.topic(Scope(None), "semantic", each)):
            with pytest.raises(errors.UnsafePath):
                make(name or "../")
    with pytest.raises(errors.UnsafePath):
        safe_name(name)


@pytest.mark.parametrize(
    "rel", ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", ".git/config", ".GIT/hooks/x", "a\0b"]
)
def test_a_relative_path_stays_inside(rel: str) -> None:
    with pytest.raises(errors.UnsafePath):
        Layout(ROOT).path(rel)


def test_an_unknown_layer_is_refused() -> None:
    with pytest.raises(errors.UnknownLayer):
        Layout(ROOT).layer(Scope(None), "../x")


def test_a_path_tells_what_it_is() -> None:
    assert place_of("global/semantic/a.md") == Place(Scope(None), "semantic", "a")
    assert place_of("workspaces/lamina/history.md") == Place(Scope("lamina"), "history", None)
    for rel in (
        "global/INDEX.md",
        "global/state/x.md",
        "global/semantic/a/b.md",
        "workspaces/A/semantic/a.md",
        "SYSTEM.md",
        "workspaces/semantic.md",
    ):
        assert place_of(rel) is None
    assert is_local("state/a")
    assert not is_local("workspaces/logs/semantic.md")
