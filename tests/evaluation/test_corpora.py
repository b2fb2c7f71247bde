"""Sets of conversations and questions, in the shapes that they are released in."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from lamina import errors
from lamina.evaluation.corpora import load_beam, load_locomo, load_longmemeval, load_set
from lamina.evaluation.retrieval import own_set


def put(path: Path, data: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return path


def test_locomo_gives_a_corpus_a_conversation_with_turns_as_evidence(tmp_path: Path) -> None:
    talk = {
        "speaker_a": "Ada",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "Hello"},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Look", "blip_caption": "a red kite"},
        ],
        "session_10_date_time": "9:00 am on 1 June, 2023",
        "session_10": [{"speaker": "Ada", "dia_id": "D10:1", "text": "Bye"}],
    }
    asked = [
        {"question": "Which toy?", "evidence": ["D1:02; D10:1"], "category": 1},
        {"question": "Nothing?", "evidence": [], "category": 4},
        {"question": "Elsewhere?", "evidence": ["D99:1"], "category": 4},
    ]
    (corpus,) = load_locomo(
        put(tmp_path / "l.json", [{"sample_id": "c1", "conversation": talk, "qa": asked}])
    )
    assert [(unit.id, unit.session, unit.seq) for unit in corpus.units] == [
        ("D1:1", "1", 0),
        ("D1:2", "1", 1),
        ("D10:1", "10", 0),
    ]
    assert corpus.units[1].text == "Look [image: a red kite]"
    assert corpus.units[0].day == date(2023, 5, 8)
    (question,) = corpus.questions
    assert (question.gold, question.kind, corpus.unit) == ({"D1:2", "D10:1"}, "multi-hop", "turn")


def test_beam_gives_a_corpus_a_chat_without_the_marks_of_its_making(tmp_path: Path) -> None:
    turns = [[{"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "Plan it ->-> 1,1"}],
             [{"role": "assistant", "id": 1, "content": "Done"}]]  # fmt: skip
    for name in ("2", "10"):
        put(tmp_path / name / "chat.json", [{"batch_number": 1, "turns": turns}])
        questions = {"ordering": [{"question": "First?", "source_chat_ids": {"a": [0], "b": [[1]]}}],
                     "abstention": [{"question": "Never said?"}]}  # fmt: skip
        put(tmp_path / name / "probing_questions.json", questions)
    corpora = load_beam(tmp_path)
    assert [corpus.name for corpus in corpora] == ["2", "10"]
    assert [unit.text for unit in corpora[0].units] == ["Plan it", "Done"]
    assert corpora[0].units[1].day == date(2024, 3, 15)
    assert [(q.kind, q.gold) for q in corpora[0].questions] == [("ordering", {"0", "1"})]
    assert len(load_beam(tmp_path / "2")) == 1
    (tmp_path / "deep").mkdir()
    (tmp_path / "2").rename(tmp_path / "deep" / "2")
    (tmp_path / "deep" / "2" / "probing_questions").mkdir()
    questions = tmp_path / "deep" / "2" / "probing_questions.json"
    questions.rename(questions.parent / "probing_questions" / "probing_questions.json")
    assert [corpus.name for corpus in load_beam(tmp_path)] == ["2", "10"]


def test_longmemeval_gives_each_question_its_haystack(tmp_path: Path) -> None:
    def one(name: str) -> dict[str, object]:
        return {
            "question_id": name,
            "question_type": "single-session-user",
            "question": "Where?",
            "question_date": "2023/05/30 (Tue) 23:40",
            "haystack_dates": ["2023/05/20 (Sat) 02:21"],
            "haystack_session_ids": ["s1"],
            "haystack_sessions": [
                [
                    {"role": "user", "content": "In Rome", "has_answer": True},
                    {"role": "assistant", "content": "Nice"},
                ]
            ],
        }

    first, refusing = load_longmemeval(put(tmp_path / "l.json", [one("q1"), one("q2_abs")]))
    assert (len(first.units), first.today) == (2, date(2023, 5, 30))
    assert first.questions[0].gold == {first.units[0].id}
    assert refusing.questions == ()


def test_a_set_of_folders_is_one_corpus_answered_by_sessions_and_turns(tmp_path: Path) -> None:
    for language in ("en", "zh"):
        talk = {
            "sessionId": f"{language}-1",
            "metadata": {"date": "2026-03-04", "project": "kiln"},
            "messages": [{"role": "user", "content": "Use DuckDB"}],
        }
        question = {
            "questionId": f"{language}-q",
            "questionType": "decision",
            "question": "Which engine?",
            "haystackSessionIds": [f"{language}-1"],
            "goldIds": [f"{language}-1:0"],
        }
        put(tmp_path / language / "sessions.json", [talk])
        put(tmp_path / language / "questions.json", [question])
    (corpus,) = load_set(tmp_path)
    assert [(q.language, q.gold, q.turns) for q in corpus.questions] == [
        ("en", {"en-1"}, {"en-1:0"}),
        ("zh", {"zh-1"}, {"zh-1:0"}),
    ]
    assert (corpus.units[0].project, corpus.unit) == ("kiln", "session")


@pytest.mark.parametrize(
    ("load", "data"),
    [
        (load_locomo, {"conversation": {}}),
        (load_locomo, [{"sample_id": "a", "qa": []}]),
        (load_locomo, [{"sample_id": "a", "conversation": {"session_1": [{"text": "no id"}]}, "qa": []}]),
        (load_locomo, [{"sample_id": "a", "conversation": {"session_1": None}, "qa": []}]),
        (load_locomo, [{"sample_id": "a", "conversation": {}, "qa": ["no object"]}]),
        (load_longmemeval, [{"question_id": 7}]),
        (load_longmemeval, [{"question_id": "a", "haystack_sessions": [[{"content": "no role"}]]}]),
        (load_longmemeval, [{"question_id": "a", "haystack_sessions": [["no object"]]}]),
    ],
)
def test_another_shape_is_refused_naming_the_file(load, data: object, tmp_path: Path) -> None:
    path = put(tmp_path / "odd.json", data)
    with pytest.raises(errors.BadInput, match=r"odd\.json"):
        load(path)


def test_a_chat_of_another_shape_is_refused_naming_its_folder(tmp_path: Path) -> None:
    put(tmp_path / "chat.json", [{"turns": [[{"content": "no id"}]]}])
    put(tmp_path / "probing_questions.json", {})
    with pytest.raises(errors.BadInput, match="another shape"):
        load_beam(tmp_path)


def test_what_is_not_there_or_not_json_is_said(tmp_path: Path) -> None:
    for load in (load_locomo, load_longmemeval, load_set, load_beam):
        with pytest.raises(errors.NoSuchFile):
            load(tmp_path / "nothing.json")
    (tmp_path / "broken.json").write_text("[{", encoding="utf-8")
    with pytest.raises(errors.BadInput, match="not readable as JSON"):
        load_locomo(tmp_path / "broken.json")


def test_the_own_set_has_what_it_promises() -> None:
    """At least 300 questions in five folders, each with gold turns that are there, in its own sessions."""
    (corpus,) = load_set(own_set())
    turns = {unit.id: unit for unit in corpus.units}
    languages = {question.language for question in corpus.questions}
    assert languages == {"en", "zh", "ja", "ko", "mixed"}
    assert len(corpus.questions) >= 300
    assert len({question.id for question in corpus.questions}) == len(corpus.questions)
    for question in corpus.questions:
        assert question.turns, question.id
        assert all(turn in turns for turn in question.turns), question.id
        assert {turns[turn].session for turn in question.turns} <= question.gold, question.id


def _set(folder: Path, **fields: object) -> Path:
    talk = {"sessionId": "s", "messages": [{"role": "user", "content": "Use DuckDB"}]}
    question = {"question": "Which?", "haystackSessionIds": ["s"], "goldIds": ["s:0"], **fields}
    put(folder / "sessions.json", [talk])
    put(folder / "questions.json", [question])
    return folder


@pytest.mark.parametrize("name", ["haystackSessionIds", "goldIds"])
def test_ids_that_are_no_list_are_refused_not_dropped(name: str, tmp_path: Path) -> None:
    with pytest.raises(errors.BadInput, match=name):
        load_set(_set(tmp_path, **{name: "s"}))


def test_gold_turns_that_do_not_exist_do_not_count(tmp_path: Path) -> None:
    (corpus,) = load_set(_set(tmp_path, goldIds=["s:0", "s:9"]))
    assert corpus.questions[0].turns == {"s:0"}


def test_two_sessions_with_one_id_are_refused(tmp_path: Path) -> None:
    _set(tmp_path / "en")
    _set(tmp_path / "zh")
    with pytest.raises(errors.BadInput, match=r"zh.*sessionId"):
        load_set(tmp_path)


@pytest.mark.parametrize("name", ["role", "content"])
def test_a_turn_without_words_is_refused(name: str, tmp_path: Path) -> None:
    turn = {"role": "user", "content": "x", name: None}
    path = put(tmp_path / "l.json", [{"question_id": "a", "haystack_sessions": [[turn]]}])
    with pytest.raises(errors.BadInput, match=f"question 0: '{name}'"):
        load_longmemeval(path)


def test_half_a_surrogate_pair_is_replaced(tmp_path: Path) -> None:
    _set(tmp_path)
    (tmp_path / "sessions.json").write_text(
        r'[{"sessionId": "s", "messages": [{"role": "user", "content": "a \ud83d b \ud83d\ude00"}]}]'
    )
    assert load_set(tmp_path)[0].units[0].text == "a ? b 😀"


def test_json_that_is_endlessly_deep_is_refused(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 200_000)
    with pytest.raises(errors.BadInput, match=r"deep\.json"):
        load_locomo(tmp_path / "deep.json")
