from __future__ import annotations

import time

import pytest

from lamina.index.words import expand, parse, stem


def wholes(query: str) -> list[str]:
    return [term.whole for term in parse(query)]


def test_ascii_text_without_identifiers_is_indexed_as_it_is() -> None:
    assert expand("Plain words, as they are.") == "Plain words, as they are."


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("call parseTopicFile", "call parseTopicFile parse Topic File"),
        ("an HTTPServer", "an HTTPServer HTTP Server"),
        ("in C++ and C#", "in C++ Cplusplus and C# Csharp"),
        ("C##", "C##"),
        ("# Heading", "# Heading"),
        ("itgc后", "itgc 后 "),
        ("成语接龙", " 成语 语接 接龙 龙 "),
        ("ｽﾃｰｼﾞ", " ステ テー ージ ジ "),
        ("cafe\u0301", "café"),
        ("soft\u00adhyphen", "softhyphen"),
    ],
)
def test_expansion(text: str, expanded: str) -> None:
    assert expand(text) == expanded


def test_stop_words_are_weak_and_content_is_not() -> None:
    weak = {term.text: term.weak for term in parse("What is the port of the gateway?")}
    assert [text for text, is_weak in weak.items() if not is_weak] == ["port", "gateway"]


def test_a_query_of_stop_words_still_has_terms() -> None:
    assert len(parse("to be or not to be")) == 4
    assert len(parse("wie ist das")) == 3


def test_names_are_asked_for_whole_and_in_parts() -> None:
    (term,) = parse("session-rec")
    assert term.whole == '("session rec" OR "session rec"*)'
    assert term.parts == ('"session"', '"rec"')
    (term,) = parse("topicFile")
    assert '"topic File"*' in term.whole


def test_a_possessive_is_the_word_itself() -> None:
    assert wholes("Caroline's group") == ['"Caroline"', '"group"']
    assert wholes("Caroline’s") == ['"Caroline"']


def test_a_quoted_phrase_is_asked_for_besides_its_words() -> None:
    assert wholes('"rate limiter" notes') == ['"rate limiter"', '"rate"', '"limiter"', '"notes"']


def test_grammar_is_cut_from_chinese_japanese_and_korean_queries() -> None:
    assert parse("我们的设备在哪里")[0].parts == ('"设备"',)
    assert parse("すべてのテストを直してください")[0].parts == ('"テス スト"',)
    assert parse("설정을 바꾸는")[0].whole == '"설정"'
    assert parse("してください")[0].weak


def test_alphabets_without_spaces_are_asked_for_by_windows() -> None:
    (term,) = parse("ステージング")
    assert '"ステ テー ージ"' in term.parts
    assert all(part.count(" ") == 2 for part in parse("เซิร์ฟเวอร์")[0].parts)


def test_a_lone_character_finds_runs_that_begin_with_it() -> None:
    assert wholes("盘") == ['"盘"*']
    assert wholes("C盘") == ['"C 盘"*']


def test_doubles_are_asked_for_once() -> None:
    assert wholes("port port PORT") == ['"port"', '"PORT"']


@pytest.mark.parametrize("query", ["", "   ", "*", "()", "-", '"', "？！", "\0", "🚀"])
def test_without_words_there_are_no_terms(query: str) -> None:
    assert parse(query) == ()


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "aA" * 100_000, "盘" * 100_000, "+" * 100_000, "x_" * 100_000, '"' * 99_999]
)
def test_long_runs_take_linear_time(text: str) -> None:
    before = time.process_time()
    expand(text)
    parse(text)
    assert time.process_time() - before < 1


def test_the_beginning_of_a_word_is_shared_by_its_forms() -> None:
    assert {stem("migration"), stem("migrations")} == {"migration"}
    assert stem("deploying") == stem("deployed") == "deploy"
    assert stem("bus") == "bus"
