"""Laws of the index over real files: growing equals building anew, and no text raises."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.index import tables, words
from lamina.index.base import Query
from lamina.index.embedded import Embedded
from lamina.index.source import StoreSource

FILES = (
    "global/semantic/a.md",
    "global/semantic/b.md",
    "global/decisions.md",
    "workspaces/w/decisions/a.md",
    "workspaces/w/state.md",
    "workspaces/w/working.md",
)
TEXTS = ("alpha beta", "beta gamma 设备", "今天玩成语接龙游戏", "parseTopicFile", "alpha alpha", "")
DATES = ("", "2026-01-05", "2026-03-01")
QUERIES = ("alpha", "beta gamma", "设备", "成语接龙", "topic", "lpha", "2026", "alpha beta 接龙")

entries = st.lists(
    st.tuples(st.sampled_from(("One", "Two", "第三")), st.sampled_from(DATES), st.sampled_from(TEXTS)),
    max_size=4,
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(FILES), entries),
        st.tuples(st.just("delete"), st.sampled_from(FILES)),
        st.tuples(st.just("rename"), st.sampled_from(FILES), st.sampled_from(FILES)),
        st.tuples(st.just("swap letters"), st.sampled_from(FILES)),
        st.tuples(st.just("refresh")),
        st.tuples(st.just("reopen")),
    ),
    max_size=12,
)


def topic(parts: list[tuple[str, str, str]]) -> str:
    blocks = [
        f"\n## {head}\n\n" + (f"**Date:** {day}\n\n" if day else "") + f"{body}\n"
        for head, day, body in parts
    ]
    return "# Topic\n" + "".join(blocks)


def apply(root: Path, step: tuple) -> None:
    path = root / step[1]
    if step[0] == "write":
        path.write_text(topic(step[2]))
    elif step[0] == "delete":
        path.unlink(missing_ok=True)
    elif step[0] == "rename" and path.exists():
        path.replace(root / step[2])
    elif step[0] == "swap letters" and path.exists():
        info = path.stat()
        path.write_text(path.read_text().replace("alpha", "ALPHb").replace("beta", "bets"))
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


@given(steps)
@settings(max_examples=60, deadline=None)
def test_an_index_that_grew_equals_one_built_anew(series: list[tuple]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder), Path(folder) / "index"
        for name in FILES:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
        source = StoreSource(root)
        grown = Embedded(home)
        for step in series:
            if step[0] == "reopen":
                grown.close()
                grown = Embedded(home)
            elif step[0] == "refresh":
                grown.refresh(source)
            else:
                apply(root, step)
        grown.refresh(source)
        anew = Embedded(Path(folder) / "anew")
        anew.refresh(source)
        assert list(tables.everything(grown._live())) == list(tables.everything(anew._live()))
        assert grown.check(source) == []
        for text in QUERIES:
            assert grown.search(Query(text)) == anew.search(Query(text))
        assert not any("working" in d.file for d in tables.everything(grown._live()))
        grown.close()
        anew.close()


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_no_query_raises(text: str) -> None:
    SOME.search(Query(text))


@given(st.lists(st.sampled_from("\"*()-+:^{}[]ANDORNOTNEAR \0盘ーｽ한ไที่éa1_.'"), max_size=30).map("".join))
@settings(max_examples=300, deadline=None)
def test_no_query_of_syntax_raises(text: str) -> None:
    SOME.search(Query(text))


@given(st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_expanding_never_raises_and_can_be_stored(text: str) -> None:
    assert words.expand(text).encode() is not None


def _some() -> Embedded:
    index = Embedded(os.devnull)
    from tests.index.conformance import source_of

    index.refresh(
        source_of("today we play 成语接龙 in a café", "parseTopicFile NEAR and or", "설정을 바꾸다")
    )
    return index


SOME = _some()
