"""The figures of retrieval, and the bars that the search must keep on the project's own set."""

from __future__ import annotations

import math
import os

import pytest

from lamina.embed.choose import choose
from lamina.evaluation.corpora import Corpus, Question, Unit, load_set
from lamina.evaluation.retrieval import Ranking, eval_retrieval, figures, own_set, render_retrieval


def ranking(found: str, gold: str) -> Ranking:
    return Ranking(Question("q", "?", frozenset(gold), "k"), tuple(found), frozenset(gold), 1.0)


def test_figures_are_what_their_names_say() -> None:
    result = figures([ranking("abcdefghij", "c"), ranking("xyz", "qx"), ranking("", "a")])
    assert result["n"] == 3
    assert result["recall@5"] == round(100 * (1 + 0.5 + 0) / 3, 1)
    assert result["hit@5"] == round(100 * 2 / 3, 1)
    assert result["mrr"] == round(100 * (1 / 3 + 1 + 0) / 3, 1)
    ndcg = [1 / math.log2(4), 1 / (1 + 1 / math.log2(3)), 0.0]
    assert result["ndcg@10"] == round(100 * sum(ndcg) / 3, 1)


def test_depth_is_counted_from_one() -> None:
    result = figures([ranking("abcdef", "f"), ranking("abcde", "e")])
    assert (result["hit@5"], result["hit@10"]) == (50.0, 100.0)


def test_no_question_gives_zeros_and_no_error() -> None:
    assert figures([])["mrr"] == 0.0


@pytest.fixture
def small() -> Corpus:
    units = (
        Unit("a", "s1", 0, "user", None, "The gateway listens on port 8080."),
        Unit("b", "s1", 1, "assistant", None, "Noted."),
        Unit("c", "s2", 0, "user", None, "Redis keeps the sessions."),
    )
    questions = (
        Question("1", "which port does the gateway use", frozenset("a"), "config"),
        Question("2", "where are sessions kept", frozenset("c"), "fact"),
    )
    return Corpus("small", units, questions)


def test_a_corpus_is_indexed_and_asked(small: Corpus) -> None:
    result = eval_retrieval("small", [small])
    assert (result["n"], result["hit@5"], result["engines"]) == (2, 100.0, ["words"])
    assert set(result["by_kind"]) == {"config", "fact"}
    assert {"index_s", "query_ms", "unit", "set"} <= set(result)
    assert "small, by turn, words" in render_retrieval(result)


def test_missed_questions_are_named(small: Corpus) -> None:
    lost = small.questions[0]._replace(text="zeppelin", gold=frozenset("b"))
    result = eval_retrieval("small", [small._replace(questions=(lost,))])
    assert [each["id"] for each in result["missed"]] == ["1"]
    assert "zeppelin" in render_retrieval(result, misses=True)
    assert "zeppelin" not in render_retrieval(result)


def test_half_of_the_questions_can_be_left_out(small: Corpus) -> None:
    halves = [eval_retrieval("small", [small], half=half) for half in (0, 1)]
    assert [half["n"] for half in halves] == [1, 1]
    assert [list(half["by_kind"]) for half in halves] == [["config"], ["fact"]]


def test_the_own_set_keeps_its_bars_with_the_built_in_embedder() -> None:
    """Hit@5 of at least 95 over all and 92 in each language, by session, all projects in one store."""
    result = eval_retrieval("own", load_set(own_set()), choose("builtin", env=os.environ))
    assert result["hit@5"] >= 95
    assert {
        language: row["hit@5"] for language, row in result["by_language"].items() if row["hit@5"] < 92
    } == {}
    assert result["by_turn"]["hit@5"] >= 80


def test_an_id_given_twice_counts_once() -> None:
    units = tuple(Unit("a", "s", seq, "user", None, "The gateway has port 8080.") for seq in (0, 1))
    corpus = Corpus("twice", units, (Question("1", "which port", frozenset("a"), "config"),))
    assert eval_retrieval("twice", [corpus])["ndcg@10"] == 100.0
