from __future__ import annotations

from datetime import date, timedelta
from math import prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.index.conformance import document
from tests.index.memory_source import MemorySource

from lamina import errors
from lamina.formats.scope import Scope
from lamina.index.embedded import Embedded
from lamina.pipeline import recall
from lamina.pipeline.recall import SNIPPET, Found, question, search, snippet

TODAY = date(2026, 11, 30)
HERE = Scope("lamina")


def ask(home: Path, documents: list, text: str, **options) -> Found:
    index = Embedded(home)
    index.refresh(MemorySource(documents))
    return search(index, question(text, here=HERE, **options), today=TODAY, here=HERE)


def ids(found: Found) -> list[str]:
    return [hit.id for hit in found.hits]


def test_a_hit_says_where_it_is_and_what_it_rests_on(tmp_path: Path) -> None:
    one = document(
        "The gateway listens on 8080.",
        7,
        date=TODAY - timedelta(days=70),
        source="session:claude-code/4f#1-2",
    )
    (hit,) = ask(tmp_path, [one], "gateway").hits
    assert hit._replace(score=0, parts={}, priors={}) == recall.Hit(
        "global-sem-0007", "global", "semantic", "Things", "The gateway listens on 8080.", "The gateway listens on 8080.",
        "global/semantic/things.md", 70, 0, {}, "approved", "aging", 70, "session:claude-code/4f#1-2",
    )  # fmt: skip
    assert hit.score == pytest.approx(sum(hit.parts.values()) * prod(hit.priors.values()), rel=0.01)
    assert set(hit.priors) == {"freshness", "time"}


def test_an_empty_result_says_which_engines_ran(tmp_path: Path) -> None:
    found = ask(tmp_path, [], "gateway")
    assert (found.hits, found.engines, found.query) == ((), ("words",), "gateway")


def test_a_blank_query_is_a_usage_error_and_one_without_words_has_no_hits(tmp_path: Path) -> None:
    with pytest.raises(errors.UsageError):
        question("  \n")
    assert ask(tmp_path, [document("text")], "?!").hits == ()


def test_the_default_scope_is_this_workspace_and_global(tmp_path: Path) -> None:
    placed = [
        document("gateway", n, scope=s)
        for n, s in enumerate(("global", "workspace:lamina", "workspace:other"), 1)
    ]
    assert ids(ask(tmp_path, placed, "gateway")) == ["global-sem-0002", "global-sem-0001"]
    assert len(ids(ask(tmp_path, placed, "gateway", scope="all"))) == 3
    assert ids(ask(tmp_path, placed, "gateway", scope="global")) == ["global-sem-0001"]
    assert ids(ask(tmp_path, placed, "gateway", scope="workspace")) == ["global-sem-0002"]
    assert ids(ask(tmp_path, placed, "gateway", scope="workspace:other")) == ["global-sem-0003"]


def test_wrong_filters_name_what_is_right() -> None:
    with pytest.raises(errors.UnknownScope):
        question("x", scope="galaxy")
    with pytest.raises(errors.UnknownScope, match="no workspace"):
        question("x", scope="workspace")
    with pytest.raises(errors.UnknownLayer):
        question("x", layers=["dreams"])
    with pytest.raises(errors.UsageError, match="maybe"):
        question("x", trust=["maybe"])
    with pytest.raises(errors.UsageError):
        question("x", limit=0)
    assert question("x", layers=["decision"]).layers == ("decisions",)


def test_superseded_and_forgotten_are_shown_only_when_asked_for(tmp_path: Path) -> None:
    states = ("approved", "candidate", "superseded", "forgotten")
    each = [document("gateway", n, trust=trust) for n, trust in enumerate(states, 1)]
    assert [hit.trust for hit in ask(tmp_path, each, "gateway").hits] == ["approved", "candidate"]
    assert [hit.trust for hit in ask(tmp_path, each, "gateway", trust=["all"]).hits] == list(states)
    assert [hit.trust for hit in ask(tmp_path, each, "gateway", trust=["forgotten"]).hits] == ["forgotten"]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"trust": "approved"}, {"trust": "candidate"}),
        ({"importance": 5}, {"importance": 1}),
        ({"verified": TODAY}, {"verified": TODAY - timedelta(days=400)}),
        ({"valid_until": TODAY}, {"valid_until": TODAY - timedelta(days=1)}),
        ({"scope": "workspace:lamina"}, {"scope": "global"}),
        ({"date": TODAY}, {"date": TODAY - timedelta(days=300), "verified": TODAY}),
        (
            {"date": TODAY, "volatility": "stable"},
            {"date": TODAY - timedelta(days=80), "volatility": "stable"},
        ),
    ],
)
def test_between_entries_that_fit_equally_the_better_known_one_wins(tmp_path: Path, better, worse) -> None:
    day = {"date": TODAY - timedelta(days=5)}
    pair = [document("gateway port", 1, **{**day, **worse}), document("gateway port", 2, **{**day, **better})]
    assert ids(ask(tmp_path / "a", pair, "gateway port")) == ["global-sem-0002", "global-sem-0001"]
    assert ids(ask(tmp_path / "b", pair[::-1], "gateway port")) == ["global-sem-0002", "global-sem-0001"]


def test_weights_never_lift_what_does_not_fit(tmp_path: Path) -> None:
    fits = document("the gateway port is 8080", 1, importance=1, trust="candidate", date=date(2020, 1, 1))
    filler = [document(f"the gateway of house {n}", n, scope="workspace:lamina") for n in range(3, 12)]
    shiny = document("the gateway is important", 2, importance=5, date=TODAY, scope="workspace:lamina")
    assert ids(ask(tmp_path, [fits, shiny, *filler], "gateway port"))[0] == "global-sem-0001"


def test_a_date_to_come_does_not_rank_first_for_ever(tmp_path: Path) -> None:
    today, future = document("gateway", 1, date=TODAY), document("gateway", 2, date=date(2099, 1, 1))
    scores = [hit.score for hit in ask(tmp_path, [today, future], "gateway").hits]
    assert scores[0] == scores[1]


def test_one_topic_does_not_crowd_out_the_others(tmp_path: Path) -> None:
    crowd = [document("gateway port settings", n, topic="Gateway") for n in range(1, 40)]
    others = [
        document("gateway port settings too", 100 + n, topic=f"T{n}", layer="decisions") for n in range(3)
    ]
    shown = ask(tmp_path, crowd + others, "gateway port settings", limit=10).hits
    assert {hit.topic for hit in shown} == {"Gateway", "T0", "T1", "T2"}


def test_an_id_finds_its_entry_first(tmp_path: Path) -> None:
    talk = document(
        "as said in lamina-dec-0007 and again lamina-dec-0007 lamina-dec-0007", 1, heading="lamina-dec-0007"
    )
    itself = document("ports " * 40, 2, id="lamina-dec-0007")
    assert ids(ask(tmp_path, [talk, itself], "LAMINA-dec-0007"))[0] == "lamina-dec-0007"
    moved = document("ports " * 40, 3, more="lamina-sem-0001")
    assert ids(ask(tmp_path / "b", [talk, moved], "lamina-sem-0001"))[0] == "global-sem-0003"


def test_a_name_with_dashes_in_a_quote_is_no_id(tmp_path: Path) -> None:
    quoted = document("The first choice was dear", 1, more="“we tried swift-small-4-5 first” (user)")
    about = document("swift-small-4-5 answers the tickets, swift-small-4-5 alone", 2)
    found = ask(tmp_path, [quoted, about], "swift-small-4-5")
    assert ids(found)[0] == about.id
    assert all("id" not in hit.priors for hit in found.hits)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("what changed in the gateway in 2024", date(2024, 5, 5)),
        ("the gateway in March.", date(2026, 3, 9)),
        ("the gateway (yesterday)", date(2026, 11, 29)),
        ("yesterday's gateway", date(2026, 11, 29)),
        ("the mid-march gateway", date(2026, 3, 15)),
        ("the gateway of 2026-03", date(2026, 3, 9)),
        ("gateway おととい", date(2026, 11, 28)),
        ("gateway きのう", date(2026, 11, 29)),
        ("gateway 上周", date(2026, 11, 25)),
        ("gateway 그저께", date(2026, 11, 28)),
        ("gateway 지난 주", date(2026, 11, 25)),
    ],
)
def test_what_a_question_says_of_the_time_counts_however_it_is_written(
    tmp_path: Path, text: str, day: date
) -> None:
    (hit,) = ask(tmp_path, [document("gateway", 1, date=day)], text).hits
    assert hit.priors["time"] == 1.25


def test_entries_of_another_branch_stay_hidden(tmp_path: Path) -> None:
    each = [
        document("gateway", 1),
        document("gateway", 2, branch="feature/x"),
        document("gateway", 3, branch="other"),
    ]
    assert ids(ask(tmp_path, each, "gateway")) == ["global-sem-0001"]
    assert set(ids(ask(tmp_path, each, "gateway", branch="feature/x"))) == {
        "global-sem-0001",
        "global-sem-0002",
    }


def test_time_bound_wording_ages_in_days(tmp_path: Path) -> None:
    old = document("the gateway is currently down", 1, date=TODAY - timedelta(days=4))
    assert ask(tmp_path, [old], "gateway").hits[0].freshness == "stale"


def test_the_state_ages_in_days(tmp_path: Path) -> None:
    days = [None, *(TODAY - timedelta(days=n) for n in (0, 1, 2, 3, 4))]
    state = [document("gateway", n, layer="state", verified=day, id=str(n)) for n, day in enumerate(days)]
    grades = {hit.id: hit.freshness for hit in ask(tmp_path, state, "gateway").hits}
    assert grades == {"0": "unverified", "1": "fresh", "2": "fresh", "3": "aging", "4": "aging", "5": "stale"}


def test_equal_entries_keep_one_order_whatever_the_order_of_writing(tmp_path: Path) -> None:
    each = [document("gateway", n, id="", file=f"global/semantic/{n}.md") for n in range(20)]
    one, other = ask(tmp_path / "a", each, "gateway"), ask(tmp_path / "b", each[::-1], "gateway")
    assert one == other


def test_a_short_body_is_shown_whole() -> None:
    text = "line one\n\n" + "x" * (SNIPPET - 10)
    assert snippet(text, "nothing") == text


def test_a_long_body_is_cut_around_the_best_match_in_whole_words() -> None:
    text = " ".join(f"filler{n}" for n in range(200)) + " the gateway listens on port 8080 " + "tail " * 200
    shown = snippet(text, "gateway port")
    assert "the gateway listens on port 8080" in shown
    assert len(shown) <= SNIPPET
    assert shown[0] == shown[-1] == "…"
    assert set(shown.strip("…").split()) <= set(text.split())


def test_a_long_body_without_the_words_is_shown_from_its_beginning() -> None:
    text = "beginning " * 100
    assert snippet(text, "gateway").startswith("beginning beginning")


def test_a_text_without_spaces_is_cut_around_the_match_too() -> None:
    text = "前" * 400 + "成语接龙游戏" + "后" * 400
    shown = snippet(text, "成语接龙")
    assert "成语接龙游戏" in shown
    assert len(shown) <= SNIPPET


@given(st.text(alphabet="ab \n盘ßİ,", max_size=900), st.text(alphabet="ab 盘ßİ", max_size=12))
def test_a_snippet_is_a_part_of_the_text_and_never_too_long(text: str, query: str) -> None:
    shown = snippet(text, query)
    assert len(shown) <= SNIPPET
    assert shown.removeprefix("…").removesuffix("…") in text
    assert shown == text or len(text) > SNIPPET


def test_words_that_only_name_a_time_are_not_looked_for(tmp_path: Path) -> None:
    old = document("I spent a week cleaning, the last of many.", 1, date=TODAY - timedelta(days=80))
    meant = document("The outbox table is polled every 5 s.", 2, date=TODAY - timedelta(days=6))
    other = document("The outbox has an index.", 3, date=TODAY - timedelta(days=90))
    found = ask(tmp_path, [old, meant, other], "outbox last week")
    assert ids(found) == ["global-sem-0002", "global-sem-0003"]
    assert found.terms == ("outbox",)
    assert ids(ask(tmp_path, [old], "last week")) == ["global-sem-0001"]
