"""`lamina eval pipeline`: the figures, and what it says of data that it can't use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lamina.errors import BadInput, NoSuchFile
from lamina.evaluation.whole import content, eval_pipeline, load
from lamina.index.raw import RawTexts

SESSIONS = [
    {
        "sessionId": "A",
        "metadata": {"date": "2026-01-05", "project": "bird-atlas"},
        "messages": [
            {
                "role": "user",
                "content": "Let's store sightings in DuckDB because the reports are analytical.",
            },
            {
                "role": "assistant",
                "content": "The sightings go to `data/sightings.duckdb`, one table for each year.",
            },
        ],
    },
    {
        "sessionId": "B",
        "metadata": {"date": "2026-01-07", "project": "bird-atlas"},
        "messages": [
            {"role": "user", "content": "The tile server crashes with 'too many open files'."},
            {
                "role": "assistant",
                "content": "The cause is the default limit. Raise it with `ulimit -n 8192`.",
            },
            {"role": "user", "content": "That fixed it."},
            {"role": "assistant", "content": "Good. The limit is set in the service file."},
        ],
    },
]
QUESTIONS = [
    {"question": "Where are sightings stored?", "questionType": "fact", "groundTruth": "In DuckDB",
     "haystackSessionIds": ["A"]},
    {"question": "Why did the tile server crash?", "questionType": "error", "groundTruth": "Too many open files",
     "haystackSessionIds": ["B"]},
    {"question": "Which cloud is used?", "questionType": "none", "groundTruth": "Not mentioned",
     "haystackSessionIds": []},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sessions.json").write_text(json.dumps(SESSIONS), encoding="utf-8")
    (tmp_path / "questions.json").write_text(json.dumps(QUESTIONS), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_the_whole_way_is_measured(folder, host):
    figures = eval_pipeline(folder, None, folder / "work", host=host)
    assert figures["n"] == 2
    assert figures["lamina"] == {"hit@5": 100.0, "coverage": 100.0}
    assert figures["raw"] == {"hit@5": 100.0, "coverage": 100.0}
    assert figures["coverage_of_raw"] == 100.0
    assert figures["notes"] == 2
    assert set(figures["by_kind"]) == {"fact", "error"}
    size = figures["bytes"]
    assert 0 < size["messages"] < size["transcripts"]
    root = folder / "work" / "store"
    assert size["markdown"] == sum(file.stat().st_size for file in (root / "workspaces").rglob("*.md"))
    assert (root / "workspaces" / "bird-atlas").is_dir()
    assert "hit@5" in figures["table"]
    json.dumps(figures)


def test_the_same_data_gives_the_same_figures(folder):
    one, other = (eval_pipeline(folder / "sessions.json") for _ in range(2))
    timeless = [{k: v for k, v in each.items() if k not in ("seconds", "table")} for each in (one, other)]
    assert timeless[0] == timeless[1]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("sessions.json", "{", "is no JSON"),
        ("sessions.json", "[]", "holds no list of sessions"),
        ("sessions.json", '[{"sessionId": "A"}]', "session 0: needs a sessionId and messages"),
        (
            "sessions.json",
            '[{"sessionId": "A", "messages": [{"role": "user", "content": []}]}]',
            "has no text",
        ),
        (
            "sessions.json",
            '[{"sessionId": "A", "metadata": {"date": "soon"}, "messages": []}]',
            "'soon' is not a day",
        ),
        ("questions.json", "[3]", "question 0: needs a question"),
        (
            "questions.json",
            '[{"question": "q", "groundTruth": "a", "haystackSessionIds": ["Z"]}]',
            "names the session 'Z'",
        ),
        ("questions.json", '[{"question": "q", "groundTruth": "a"}]', "no question names a session"),
    ],
)
def test_unusable_data_is_named(folder, name, text, said):
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        load(folder)
    assert str(folder / name) in caught.value.message
    assert said in caught.value.message


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NoSuchFile, match=r"sessions\.json"):
        load(tmp_path)


def test_data_without_dates_and_projects_is_taken(folder):
    bare = [{"sessionId": each["sessionId"], "messages": each["messages"]} for each in SESSIONS]
    (folder / "sessions.json").write_text(json.dumps({"sessions": bare}), encoding="utf-8-sig")
    talks, asked = load(folder)
    assert [talk.project for talk in talks] == ["project", "project"]
    assert talks[0].started < talks[1].started
    assert len(asked) == 3


def test_the_baseline_finds_any_word_and_takes_any_question():
    table = RawTexts(["red house", "blue boat", "blue house"])
    assert table.search("a blue house?", 5) == [2, 0, 1]
    assert table.search('"(*) AND', 5) == []
    assert table.search("???", 5) == []
    assert table.search("blue", 1) == [1]
    table.close()


def test_content_words_are_folded_numbers_kept_and_grammar_left_out():
    assert content("The port is 8080") == content("PORT 8080")
    assert content("缓存") == {"缓存", "存"}
