"""Ways in which searches of memories were seen to fail elsewhere, one test each, with the words that showed it."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from tests.index.conformance import document, source_of
from tests.index.memory_source import MemorySource
from tests.index.standin import Broken, Hashed

from lamina.index.base import Query
from lamina.index.embedded import Embedded
from lamina.index.source import StoreSource
from lamina.pipeline import recall

OTHER = ("Nothing of that kind stands here at all", "完全に別の文", "Another plain line")


def found(home: Path, query: str, *texts: str, vectors: bool = False) -> list[str]:
    """Return what a query finds among some texts and others, best first."""
    index = Embedded(home, embedder=Hashed() if vectors else None)
    index.refresh(source_of(*texts, *OTHER))
    index.embed()
    hits = [match.document.text for match in index.search(Query(query, vectors=vectors)).matches]
    index.close()
    return hits


@pytest.mark.parametrize("embedder", [None, Broken()], ids=["off", "missing"])
def test_01_words_match_though_the_vector_engine_is_off_or_missing(tmp_path: Path, embedder) -> None:
    index = Embedded(tmp_path, embedder=embedder)
    index.refresh(source_of("the gateway listens on 8080", *OTHER))
    answer = index.search(Query("gateway", vectors=True))
    assert [match.document.text for match in answer.matches] == ["the gateway listens on 8080"]
    assert answer.engines == ("words",)


def test_02_words_match_under_a_filter_that_leaves_vectors_nothing(tmp_path: Path) -> None:
    index = Embedded(tmp_path, embedder=Hashed())
    index.refresh(source_of("the car broke down"))
    index.embed()
    later = document("tickets for the gateway", 9, scope="workspace:b", file="b.md")
    index.refresh(MemorySource([document("the car broke down"), later]))
    answer = index.search(Query("gateway", vectors=True, scopes=("workspace:b",)))
    assert [match.document.text for match in answer.matches] == ["tickets for the gateway"]


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize(
    ("text", "query"),
    [
        pytest.param("今天玩成语接龙游戏", "成语接龙", id="03"),
        pytest.param("新设备管理", "设备", id="04"),
        pytest.param("重跑gen-itgc后50条", "itgc", id="05 ASCII glued to CJK"),
        pytest.param("清理C盘空间", "C盘", id="05 a letter glued to CJK"),
        pytest.param("설정을 바꾸는 방법", "설정", id="06 Hangul"),
        pytest.param("Настройка сервера", "сервера", id="06 Cyrillic"),
        pytest.param("ตั้งค่าเซิร์ฟเวอร์ใหม่", "เซิร์ฟเวอร์", id="06 Thai"),
        pytest.param("डेटाबेस की सेटिंग बदलें", "सेटिंग", id="06 Devanagari"),
        pytest.param("We met in the cafe", "café", id="06 accents"),
        pytest.param("中文优先", "中文", id="07"),
        pytest.param("ステージング環境", "ステージング環境", id="08 a long vowel"),
        pytest.param("ステージング環境", "ｽﾃｰｼﾞﾝｸﾞ", id="08 half width"),
        pytest.param("the multi-agent mode", "multi-agent", id="09 hyphen"),
        pytest.param("we don't do that", "don't", id="09 apostrophe"),
        pytest.param("files in Downloads/transcripts", "Downloads/transcripts", id="09 path"),
        pytest.param("it moves 3 GB/s", "GB/s", id="09 unit"),
        pytest.param("write it in C++ please", "C++", id="09 C++"),
        pytest.param("call foo:bar", "foo:bar", id="09 colon"),
        pytest.param("an unbalanced thing", '"unbalanced', id="09 quote"),
        pytest.param("NEAR the end", "NEAR", id="09 NEAR"),
        pytest.param("the session-recall skill", "session-rec", id="10 hyphenated"),
        pytest.param("see CLAUDE.md for it", "CLAUDE", id="10 dotted"),
        pytest.param("the memory_search tool", "memory_sea", id="10 underscored"),
        pytest.param("call parseTopicFile", "topicFile", id="10 camel case"),
        pytest.param("验证用户身份时出错", '"用户身份"', id="17"),
    ],
)
def test_03_to_10_and_17_the_text_is_found(tmp_path: Path, text: str, query: str, *, vectors: bool) -> None:
    assert found(tmp_path, query, text, vectors=vectors)[:1] == [text]


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("query", ["*", "()", "AND", "-", '"', "NEAR("])
def test_09_syntax_alone_is_no_error(tmp_path: Path, query: str, *, vectors: bool) -> None:
    assert isinstance(found(tmp_path, query, "a text", vectors=vectors), list)


@pytest.mark.parametrize("query", ["？！", "。。。", "《》", "…"])
def test_11_a_query_without_words_does_not_return_everything(tmp_path: Path, query: str) -> None:
    assert found(tmp_path, query, "今天玩成语接龙游戏") == []


def test_12_one_kind_does_not_crowd_out_the_others(tmp_path: Path) -> None:
    crowd = [
        document(f"the gateway port is {n}", n, topic="Logs", layer="episodic", file="e.md")
        for n in range(30)
    ]
    other = document(
        "the gateway port of production is 8080", 99, topic="Ports", layer="decisions", file="d.md"
    )
    index = Embedded(tmp_path)
    index.refresh(MemorySource([*crowd, other]))
    hits = recall.search(index, Query("gateway port"), today=date(2026, 11, 30)).hits
    assert "decisions" in {hit.layer for hit in hits[:10]}


@pytest.mark.parametrize("vectors", [False, True])
def test_13_what_is_deleted_goes_and_what_is_edited_by_hand_comes(tmp_path: Path, *, vectors: bool) -> None:
    path = tmp_path / "store" / "global" / "semantic" / "things.md"
    path.parent.mkdir(parents=True)
    index, source = (
        Embedded(tmp_path / "index", embedder=Hashed() if vectors else None),
        StoreSource(tmp_path / "store"),
    )

    def asked(query: str) -> list[str]:
        index.refresh(source)
        index.embed()
        hits = index.search(Query(query, vectors=vectors)).matches
        return [match.document.text for match in hits if query in match.document.text]

    path.write_text("# T\n\n## One\n\nthe old gateway\n\n## Two\n\nthe old lunch\n")
    assert asked("gateway") == ["the old gateway"]
    path.write_text("# T\n\n## One\n\nthe new socket\n")
    assert asked("gateway") == []
    assert asked("lunch") == []
    assert asked("socket") == ["the new socket"]
    path.unlink()
    assert asked("socket") == []


def test_14_what_is_stored_is_indexed(tmp_path: Path) -> None:
    index = Embedded(tmp_path)
    source = MemorySource(document(f"saved number{n}", n, file=f"f{n % 5}.md") for n in range(200))
    index.refresh(source)
    assert index.check(source) == []
    for n in range(200):
        hits = index.search(Query(f"number{n}")).matches
        assert [match.document.text for match in hits][:1] == [f"saved number{n}"]


def test_15_an_embedder_of_another_size_is_taken_and_nothing_is_lost(tmp_path: Path) -> None:
    source = source_of("the car broke down", *OTHER)
    for dimension in (384, 768, 384):
        index = Embedded(tmp_path, embedder=Hashed(dimension))
        index.refresh(source)
        hits = index.search(Query("car", vectors=True)).matches
        assert [match.document.text for match in hits][:1] == ["the car broke down"]
        assert index.embed() == (4, 0)
        hits = index.search(Query("automobile", vectors=True)).matches
        assert hits[0].document.text == "the car broke down"
        assert index.check(source) == []
        index.close()


WRITER = """
import os, sys
from lamina.index.embedded import Embedded
from lamina.index.source import StoreSource
index = Embedded(sys.argv[2])
index.refresh(StoreSource(sys.argv[1]))
os._exit(0)
"""


def test_16_a_text_whose_writer_ended_at_once_is_embedded_by_the_next_who_looks(tmp_path: Path) -> None:
    path = tmp_path / "store" / "global" / "semantic" / "things.md"
    path.parent.mkdir(parents=True)
    path.write_text("# T\n\n## One\n\nthe car broke down\n")
    command = [sys.executable, "-c", WRITER, str(tmp_path / "store"), str(tmp_path / "index")]
    subprocess.run(command, check=True)
    index = Embedded(tmp_path / "index", embedder=Hashed())
    index.refresh(StoreSource(tmp_path / "store"))
    assert index.embed() == (1, 0)
    hits = index.search(Query("automobile", vectors=True)).matches
    assert [match.document.text for match in hits] == ["the car broke down"]


def test_18_grammar_alone_recalls_nothing_unrelated(tmp_path: Path) -> None:
    texts = ("すべての設定を見てください", "テキストを保存してください", "テストは緑です")
    assert found(tmp_path, "すべてのテストを直してください", *texts) == ["テストは緑です"]
