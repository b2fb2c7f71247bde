"""What every search engine must do; an engine's tests inherit this and give a factory.

`IndexConformance` is about words; `VectorConformance` is for engines that can ask for meaning, too.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from tests.index.memory_source import MemorySource
from tests.index.standin import Broken, Hashed

from lamina.index.base import Document, Query
from lamina.index.engine import Index

DAY = date(2026, 11, 30)


def document(text: str, number: int = 1, **more: object) -> Document:
    values: dict[str, object] = {
        "id": f"global-sem-{number:04}",
        "scope": "global",
        "layer": "semantic",
        "topic": "Things",
        "heading": text[:80],
        "text": text,
        "file": "global/semantic/things.md",
        "line": 10 * number,
        "date": DAY,
    }
    return Document(**{**values, **more})  # type: ignore[arg-type]


def source_of(*texts: str) -> MemorySource:
    return MemorySource([document(text, n) for n, text in enumerate(texts, 1)])


class IndexConformance:
    """Inherit it, and give `make`."""

    def make(self, home: Path) -> Index:
        raise NotImplementedError

    @pytest.fixture
    def index(self, tmp_path: Path):
        index = self.make(tmp_path)
        yield index
        index.close()

    def found(self, index: Index, text: str, **filters: object) -> list[str]:
        answer = index.search(Query(text, **filters))  # type: ignore[arg-type]
        assert answer.engines
        scores = [match.score for match in answer.matches]
        assert scores == sorted(scores, reverse=True)
        return [match.document.text for match in answer.matches]

    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("今天玩成语接龙游戏", "成语接龙"),
            ("新设备管理", "设备"),
            ("中文优先", "中文"),
            ("重跑gen-itgc后50条", "itgc"),
            ("重跑gen-itgc后50条", "gen-itgc"),
            ("重跑gen-itgc后50条", "重跑gen"),
            ("清理C盘空间", "C盘"),
            ("清理C盘空间", "盘"),
            ("验证用户身份时出错", '"用户身份"'),
            ("ステージング環境へ出す", "ステージング環境"),
            ("ステージング環境へ出す", "ｽﾃｰｼﾞﾝｸﾞ"),
            ("ｽﾃｰｼﾞﾝｸﾞ環境", "ステージング"),
            ("ひらがなだけ", "ひらがな"),
            ("설정을 바꾸는 방법", "설정"),
            ("설정 파일", "설정을 어떻게 바꾸나요"),
            ("Настройка сервера базы данных", "сервера"),
            ("Ещё один сервер", "сервер"),
            ("ตั้งค่าเซิร์ฟเวอร์ใหม่", "เซิร์ฟเวอร์"),
            ("ตั้งค่า SQLite ใหม่", "sqlite"),
            ("डेटाबेस की सेटिंग बदलें", "सेटिंग"),
            ("הגדרות השרת", "השרת"),
            ("إعدادات الخادم", "الخَادِم"),
            ("We met in the café", "cafe"),
            ("We met in the cafe", "café"),
            ("cafe\u0301 decomposed", "café"),
            ("Use ＡＢＣ full width", "abc"),
            ("the multi-agent mode", "multi-agent"),
            ("files in Downloads/transcripts", "Downloads/transcripts"),
            ("it moves 3 GB/s", "GB/s"),
            ("write it in C++ please", "C++"),
            ("write it in C# please", "c#"),
            ("we don't do that", "don't"),
            ("call foo:bar", "foo:bar"),
            ("the session-recall skill", "session-rec"),
            ("see CLAUDE.md for it", "CLAUDE"),
            ("see CLAUDE.md for it", "claude.md"),
            ("the memory_search tool", "memory_sea"),
            ("the memory_search tool", "search"),
            ("call parseTopicFile here", "topicFile"),
            ("call parseTopicFile here", "parsetopic"),
            ("call parseTopicFile here", "topic"),
            ("src/lamina/index/words.py", "index/words"),
            ("release v1.2.3 is out", "v1.2.3"),
            ("recalling something", "calling"),
            ("the migrations ran", "migration"),
            ("Straße in Köln", "koln"),
            ("to be or not to be", "to be or not to be"),
            ("an unbalanced thing", '"unbalanced'),
            ("NEAR the end", "NEAR"),
            ("go 🚀 launch", "🚀 launch"),
        ],
    )
    def test_finds(self, index: Index, text: str, query: str) -> None:
        index.refresh(source_of("Nothing of that kind stands here at all", text, "Another plain line"))
        assert self.found(index, query)[:1] == [text]

    @pytest.mark.parametrize(
        "query",
        ["*", "()", "AND", "NEAR", "NOT", "OR OR", "-", '"', '""', "'", "^", "a*b*", "{x}:y", "\0", "\ud800",
         "👩‍👩‍👧‍👦", "%", "_", "\\", "a" * 5000, "NEAR(a b, 2)", "text : x", "🚀", "\u200b", "x\0y"],
    )  # fmt: skip
    def test_no_query_raises(self, index: Index, query: str) -> None:
        index.refresh(source_of("and near not or a b x y"))
        assert len(self.found(index, query)) <= 1

    def test_a_query_without_words_finds_nothing(self, index: Index) -> None:
        index.refresh(source_of("今天玩成语接龙游戏", "some text"))
        assert self.found(index, "？！") == []
        assert self.found(index, "...") == []

    def test_grammar_alone_recalls_nothing_unrelated(self, index: Index) -> None:
        index.refresh(source_of("すべての設定を見てください", "テキストを保存してください", "テストは緑です"))
        assert self.found(index, "すべてのテストを直してください") == ["テストは緑です"]

    def test_words_of_content_outweigh_words_of_grammar(self, index: Index) -> None:
        index.refresh(source_of("what is it and where is it to be", "the gateway listens on 8080"))
        assert self.found(index, "what is the port of the gateway")[0] == "the gateway listens on 8080"

    def test_all_words_together_come_before_some(self, index: Index) -> None:
        index.refresh(source_of("deploy deploy deploy", "rollback of the deploy", "rollback rollback"))
        assert self.found(index, "deploy rollback")[0] == "rollback of the deploy"

    def test_a_word_that_stands_everywhere_does_not_decide(self, index: Index) -> None:
        index.refresh(source_of(*(f"project number {n}" for n in range(40)), "project budget"))
        assert self.found(index, "project budget")[0] == "project budget"

    def test_finds_by_heading_topic_workspace_date_and_id(self, index: Index) -> None:
        target = document(
            "plain", 7, id="lamina-dec-0007", heading="Retention", topic="Backups", scope="workspace:lamina",
            date=date(2025, 3, 4), more="old-sem-0001",
        )  # fmt: skip
        index.refresh(MemorySource([document("else"), target]))
        for query in (
            "retention",
            "backups",
            "lamina",
            "2025-03-04",
            "March 2025",
            "lamina-dec-0007",
            "old-sem-0001",
        ):
            assert self.found(index, query) == ["plain"], query

    def test_filters(self, index: Index) -> None:
        one = document(
            "gateway one", 1, scope="workspace:a", layer="decisions", topic="Étude Ports", file="w/ports.md"
        )
        two = document("gateway two", 2, scope="workspace:b", trust="candidate", date=date(2026, 1, 5))
        old = document("gateway old", 3, trust="superseded", date=date(2020, 1, 1))
        gone = document("gateway gone", 4, trust="forgotten")
        branch = document("gateway branch", 5, branch="feature/x", date=None)
        index.refresh(MemorySource([one, two, old, gone, branch]))
        assert set(self.found(index, "gateway")) == {"gateway one", "gateway two"}
        assert self.found(index, "gateway", scopes=("workspace:b", "workspace:zzz")) == ["gateway two"]
        assert self.found(index, "gateway", layers=("decisions",)) == ["gateway one"]
        assert self.found(index, "gateway", topic="étude ports") == ["gateway one"]
        assert self.found(index, "gateway", topic="ports") == ["gateway one"]
        assert self.found(index, "gateway", topic="things") == ["gateway two"]
        assert self.found(index, "gateway", trust=frozenset({"superseded"})) == ["gateway old"]
        assert len(self.found(index, "gateway", trust=frozenset({"superseded", "forgotten"}))) == 2
        assert self.found(index, "gateway", since=date(2026, 1, 6)) == ["gateway one"]
        assert self.found(index, "gateway", until=date(2026, 1, 5)) == ["gateway two"]
        assert self.found(index, "gateway", since=date(2026, 1, 5), until=date(2026, 1, 5)) == ["gateway two"]
        assert "gateway branch" in self.found(index, "gateway", branches=frozenset({"feature/x"}))
        assert len(self.found(index, "gateway", branches=None)) == 3
        assert len(self.found(index, "gateway", limit=1)) == 1

    def test_filters_hold_for_parts_of_words_too(self, index: Index) -> None:
        index.refresh(MemorySource([document("recalling", 1, scope="workspace:a"), document("recalling", 2)]))
        assert len(self.found(index, "calling", scopes=("global",))) == 1
        assert self.found(index, "calling", until=date(2020, 1, 1)) == []

    def test_the_newer_one_comes_first_among_equals(self, index: Index) -> None:
        days = [date(2026, 1, 5), date(2026, 3, 1), date(2025, 12, 31)]
        index.refresh(MemorySource([document("same text", n, date=day, id="") for n, day in enumerate(days)]))
        found = [match.document.date for match in index.search(Query("same text")).matches]
        assert found == sorted(days, reverse=True)

    def test_answers_stand_beside_what_matches_in_a_session(self, index: Index) -> None:
        source = "session:claude-code/4f3a#{}-{}"
        turns = ["Which port does the gateway use?", "It is 8080.", "Fine.", "Lunch?", "Noon."]
        placed = [document(t, n, source=source.format(n, n)) for n, t in enumerate(turns, 1)]
        index.refresh(MemorySource([*placed, document("It is 9090.", 9)]))
        assert self.found(index, "which port does the gateway use")[1] == "It is 8080."
        assert self.found(index, "gateway") == [turns[0]]

    def test_a_changed_file_is_read_again(self, index: Index) -> None:
        source = source_of("old text")
        assert index.refresh(source).added == 1
        assert index.refresh(source) == type(index.refresh(source))()
        source.put("global/semantic/things.md", [document("new text")])
        assert index.refresh(source).changed == 1
        assert self.found(index, "old") == []
        assert self.found(index, "new") == ["new text"]

    def test_a_writer_names_what_it_touched_and_nothing_else_is_looked_at(self, index: Index) -> None:
        source = MemorySource(
            [document("one thing"), document("other thing", 2, file="global/semantic/o.md")]
        )
        index.refresh(source)
        source.put("global/semantic/things.md", [document("new thing")])
        source.put("global/semantic/o.md", [document("unnoticed", 2, file="global/semantic/o.md")])
        changes = index.refresh(source, ["global/semantic/things.md"])
        assert (changes.added, changes.changed, changes.removed) == (0, 1, 0)
        assert set(self.found(index, "thing")) == {"new thing", "other thing"}
        source.remove("global/semantic/things.md")
        assert index.refresh(source, {"global/semantic/things.md", "never/was.md"}).removed == 1
        assert self.found(index, "thing") == ["other thing"]
        assert index.refresh(source).changed == 1
        assert self.found(index, "unnoticed") == ["unnoticed"]

    def test_a_deleted_file_is_found_no_more(self, index: Index) -> None:
        source = MemorySource(
            [document("one thing"), document("other thing", 2, file="global/semantic/o.md")]
        )
        index.refresh(source)
        source.remove("global/semantic/o.md")
        assert index.refresh(source).removed == 1
        assert self.found(index, "thing") == ["one thing"]

    def test_an_unreadable_file_is_a_problem_and_stops_nothing(self, index: Index) -> None:
        source = MemorySource(
            [document("one thing"), document("other thing", 2, file="global/semantic/o.md")]
        )
        source.broken.add("global/semantic/o.md")
        changes = index.refresh(source)
        assert [problem.split(":")[0] for problem in changes.problems] == ["global/semantic/o.md"]
        assert self.found(index, "thing") == ["one thing"]
        source.broken.clear()
        index.refresh(source)
        assert len(self.found(index, "thing")) == 2

    def test_the_same_entry_twice_is_two_documents(self, index: Index) -> None:
        source = MemorySource([document("twin", 1, id=""), document("twin", 2, id="")])
        index.refresh(source)
        assert len(self.found(index, "twin")) == 2
        source.put("global/semantic/things.md", [document("twin", 2, id="")])
        index.refresh(source)
        assert len(self.found(index, "twin")) == 1
        assert index.check(source) == []

    def test_a_rebuild_gives_the_same_answers(self, index: Index) -> None:
        source = source_of("alpha beta", "beta gamma", "gamma alpha")
        index.refresh(source)
        before = index.search(Query("alpha gamma"))
        assert index.rebuild(source).rebuilt
        assert index.search(Query("alpha gamma")) == before

    def test_check_names_what_differs(self, index: Index) -> None:
        source = source_of("alpha beta")
        index.refresh(source)
        assert index.check(source) == []
        source.put("global/semantic/things.md", [document("gamma")])
        assert len(index.check(source)) >= 2
        index.refresh(source)
        assert index.check(source) == []

    def test_an_empty_answer_says_which_engines_ran(self, index: Index) -> None:
        index.refresh(MemorySource())
        answer = index.search(Query("nothing"))
        assert not answer.matches
        assert answer.engines


class VectorConformance:
    """Inherit it, and give `make` and `embed`; texts are found by words of the same group."""

    def make(self, home: Path, embedder: Hashed) -> Index:
        raise NotImplementedError

    def embed(self, index: Index) -> tuple[int, int]:
        """Embed what has no vector; returns how many were embedded and how many are left."""
        raise NotImplementedError

    @pytest.fixture
    def index(self, tmp_path: Path):
        index = self.make(tmp_path, Hashed())
        yield index
        index.close()

    def found(self, index: Index, text: str, **filters: object) -> list[str]:
        answer = index.search(Query(text, vectors=True, **filters))  # type: ignore[arg-type]
        assert "vectors" in answer.engines
        scores = [match.score for match in answer.matches]
        assert scores == sorted(scores, reverse=True)
        return [match.document.text for match in answer.matches]

    def test_what_shares_no_word_is_found_by_meaning(self, index: Index) -> None:
        index.refresh(source_of("the car broke down", "lunch was good", "tickets for the train"))
        assert self.embed(index) == (3, 0)
        assert self.found(index, "automobile")[:1] == ["the car broke down"]
        assert not index.search(Query("automobile")).matches
        assert index.search(Query("automobile")).engines == ("words",)

    def test_words_answer_before_there_are_vectors(self, index: Index) -> None:
        index.refresh(source_of("the car broke down", "lunch was good"))
        assert self.found(index, "lunch") == ["lunch was good"]

    def test_words_answer_without_the_embedder_and_say_so(self, tmp_path: Path) -> None:
        index = self.make(tmp_path, Broken())
        index.refresh(source_of("the car broke down", "lunch was good"))
        answer = index.search(Query("lunch", vectors=True))
        assert [match.document.text for match in answer.matches] == ["lunch was good"]
        assert answer.engines == ("words",)
        assert "the model is missing" in answer.notes[0]
        index.close()

    def test_embedding_goes_on_where_it_was(self, index: Index) -> None:
        source = source_of("the car broke down", "lunch was good")
        index.refresh(source)
        self.embed(index)
        assert self.embed(index) == (0, 0)
        source.put("global/semantic/o.md", [document("a new socket", 3, file="global/semantic/o.md")])
        index.refresh(source)
        assert self.embed(index) == (1, 0)
        assert self.found(index, "port")[:1] == ["a new socket"]

    def test_filters_hold_for_meaning(self, index: Index) -> None:
        texts = {
            "a": document("the car broke down", 1, scope="workspace:a", layer="decisions", topic="Cars", file="w/cars.md"),
            "b": document("a car was sold", 2, scope="workspace:b", trust="candidate", date=date(2026, 1, 5)),
            "old": document("an old car", 3, trust="superseded", date=date(2020, 1, 1)),
            "branch": document("the branch car", 4, branch="feature/x", date=None),
        }  # fmt: skip
        index.refresh(MemorySource(texts.values()))
        self.embed(index)

        def found(**filters: object) -> set[str]:
            hits = self.found(index, "automobile", **filters)
            return {name for name, each in texts.items() if each.text in hits}

        assert found() == {"a", "b"}
        assert found(scopes=("workspace:b",)) == {"b"}
        assert found(layers=("decisions",)) == {"a"}
        assert found(topic="cars") == {"a"}
        assert found(trust=frozenset({"superseded"})) == {"old"}
        assert found(since=date(2026, 1, 6)) == {"a"}
        assert found(until=date(2026, 1, 5)) == {"b"}
        assert found(branches=frozenset({"feature/x"})) == {"a", "b", "branch"}
        assert found(scopes=("workspace:none",)) == set()

    def test_filters_follow_changes(self, index: Index) -> None:
        source = MemorySource(
            [document("the car broke down"), document("a car", 2, file="global/semantic/o.md")]
        )
        index.refresh(source)
        self.embed(index)
        assert len(self.found(index, "automobile")) == 2
        source.put("global/semantic/things.md", [document("the car broke down", trust="forgotten")])
        index.refresh(source)
        assert self.found(index, "automobile") == ["a car"]
        source.remove("global/semantic/o.md")
        index.refresh(source)
        assert self.found(index, "automobile") == []
        source.put("global/semantic/things.md", [document("the car broke down")])
        index.refresh(source)
        assert self.found(index, "automobile") == ["the car broke down"]
        assert self.embed(index) == (0, 0)

    def test_a_changed_text_is_found_by_its_new_meaning_alone(self, index: Index) -> None:
        source = source_of("the car broke down", "lunch was good")
        index.refresh(source)
        self.embed(index)
        self.found(index, "automobile")
        source.put("global/semantic/things.md", [document("the socket broke down")])
        index.refresh(source)
        assert self.embed(index) == (1, 0)
        assert self.found(index, "port")[:1] == ["the socket broke down"]
        assert self.found(index, "automobile") == []

    @pytest.mark.parametrize("text", ["", "?!", "*", "\0", "\ud800", "🚀", "a" * 5000])
    def test_no_query_raises(self, index: Index, text: str) -> None:
        index.refresh(source_of("some text", "🚀", ""))
        self.embed(index)
        index.search(Query(text, vectors=True))

    def test_a_rebuild_gives_the_same_answers_and_embeds_nothing(self, index: Index) -> None:
        source = source_of("the car broke down", "a gateway listens", "lunch was good")
        index.refresh(source)
        self.embed(index)
        before = index.search(Query("proxy automobile", vectors=True))
        assert index.rebuild(source).rebuilt
        assert self.embed(index) == (0, 0)
        assert index.search(Query("proxy automobile", vectors=True)) == before

    def test_another_model_embeds_anew_and_the_old_vectors_go(self, tmp_path: Path) -> None:
        source = source_of("the car broke down", "lunch was good")
        for embedder in (Hashed(384), Hashed(768), Hashed(384)):
            index = self.make(tmp_path, embedder)
            index.refresh(source)
            assert self.found(index, "lunch")[:1] == ["lunch was good"]
            assert self.embed(index) == (2, 0)
            assert self.found(index, "automobile")[:1] == ["the car broke down"]
            index.close()
