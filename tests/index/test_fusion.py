"""How signals become one score."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lamina.index.fusion import Line, Signals, coverage, fuse

ALL = coverage([(0, 1.0, 2.0), (1, 1.0, 1.0)])


def signals(words=None, masks=None, vectors=None, lengths=None, line=((), ())) -> Signals:
    return Signals(words or {}, masks or {}, vectors or {}, lengths or {}, Line(*line))


def order(given: Signals, *, widen: bool = True) -> list[int]:
    return [each.row for each in fuse(given, ALL, widen=widen, limit=10)]


def test_coverage_weighs_words_by_their_worth_and_adds_up_parts() -> None:
    share = coverage([(0, 1.0, 3.0), (1, 0.5, 1.0), (1, 0.5, 1.0)])
    assert [share(mask) for mask in (0, 1, 2, 6, 7)] == [0.0, 0.75, 0.125, 0.25, 1.0]


def test_a_word_that_is_looked_for_counts_whole_in_a_long_text() -> None:
    """The one long entry that holds the word comes before short ones that only mean something like it."""
    given = signals({1: 9.0}, {1: 3}, {2: 0.9, 3: 0.8}, {1: 30_000, 2: 20, 3: 20})
    assert order(given, widen=False)[0] == 1


def test_of_two_answers_to_a_question_the_concise_one_comes_first() -> None:
    given = signals({1: 9.0, 2: 9.0}, {1: 3, 2: 3}, lengths={1: 9_000, 2: 200})
    assert order(given) == [2, 1]


def test_a_short_question_comes_after_what_tells_as_much() -> None:
    given = signals({1: 9.0, 2: 9.0}, {1: 3, 2: 3}, lengths={1: -30, 2: 30})
    assert order(given) == [2, 1]


def test_an_answer_behind_the_question_comes_in_with_none_of_the_words() -> None:
    line = ([1, 2, 9], ["a", "a", "b"])
    given = signals({1: 9.0}, {1: 3}, lengths={1: 40, 2: 40, 9: 40}, line=line)
    assert order(given) == [1, 2]
    assert order(given, widen=False) == [1]


def test_another_session_is_no_neighbour() -> None:
    given = signals({1: 9.0}, {1: 3}, lengths={1: 40, 2: 40}, line=([1, 2], ["a", "b"]))
    assert order(given) == [1]


@given(
    st.dictionaries(st.integers(0, 30), st.floats(0, 50), max_size=20),
    st.dictionaries(st.integers(0, 30), st.integers(0, 3), max_size=20),
    st.dictionaries(st.integers(0, 30), st.floats(-1, 1), max_size=20),
    st.dictionaries(st.integers(0, 30), st.integers(-5_000, 5_000), max_size=30),
    st.booleans(),
)
def test_the_parts_add_up_and_the_order_is_that_of_the_scores(words, masks, vectors, lengths, widen) -> None:
    line = (list(range(31)), ["s"] * 15 + ["t"] * 16)
    found = fuse(signals(words, masks, vectors, lengths, line), ALL, widen=widen, limit=50)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert len({each.row for each in found}) == len(found)
    for each in found:
        assert abs(max(0.0, sum(each.parts.values())) - each.score) < 1e-9
