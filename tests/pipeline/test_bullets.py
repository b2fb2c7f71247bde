"""The summary without a model: what it keeps, how it names it, and what it never does."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.formats.event import Author, Event, Kind, Session
from lamina.pipeline.bullets import BULLET_CHARS, bullets
from lamina.pipeline.relevance import Limits, collect
from lamina.pipeline.statements import condensed, sentences, shares, statements

DAY = date(2026, 3, 4)
START = datetime(2026, 3, 4, 9, tzinfo=UTC)


def material(*said: str):
    """Person and agent speak in turn, the person first."""
    people = ((Kind.USER, Author.PERSON), (Kind.ASSISTANT, Author.MODEL))
    events = [Event(at, *people[at % 2], text, START + timedelta(minutes=at)) for at, text in enumerate(said)]
    return next(iter(collect(Session("claude-code", "s1"), events, Limits())))


def told(*said: str):
    return bullets(material(*said), DAY)


def labels(*said: str) -> list[str]:
    return [one.label for one in told(*said)]


def test_a_decision_keeps_its_reason_and_the_persons_words():
    one, *_ = told(
        "Let's use SQLite for the catalogue because it needs no server.",
        "The file opens in WAL mode with `busy_timeout=5000`.",
    )
    assert one.label == "decision"
    assert one.text == (
        "Use SQLite for the catalogue because it needs no server. "
        "The file opens in WAL mode with `busy_timeout=5000`."
    )
    assert (one.who, one.quote) == ("user", "Let's use SQLite for the catalogue because it needs no server.")
    assert (one.day, one.first, one.last) == (DAY, 0, 1)


def test_a_failure_with_the_fix_that_held_is_a_fix():
    (one,) = told(
        "The nightly export crashes with 'disk quota exceeded'.",
        "Root cause: old dumps are never deleted. Fix: run `prune-dumps --keep 7` before the export.",
        "That fixed it, thanks.",
    )
    assert one.label == "fix"
    assert "disk quota exceeded" in one.text
    assert "`prune-dumps --keep 7`" in one.text
    assert (one.quote, one.who) == ("That fixed it, thanks.", "user")


def test_a_failure_that_nobody_confirmed_stays_a_failure():
    assert labels("The build is failing on arm64.", "Try setting `CGO_ENABLED=0`.") == ["failure"]


def test_a_correction_starts_its_own_bullet():
    found = told(
        "Set up the queue.",
        "I'll set up RabbitMQ with two workers.",
        "No, use NATS instead of RabbitMQ.",
        "Switched the queue to NATS.",
    )
    correction = next(one for one in found if one.label == "correction")
    assert correction.text.startswith("Use NATS instead of RabbitMQ.")
    assert correction.who == "user"


def test_preferences_stand_together_without_their_echo():
    found = told(
        "A few preferences: always write tests first. Never use wildcard imports.",
        "Noted:\n- Tests first\n- No wildcard imports",
        "And for dates use ISO format.",
        "Will do.",
    )
    assert [one.label for one in found] == ["preference"]
    assert found[0].text == "Always write tests first. Never use wildcard imports. For dates use ISO format."


def test_an_accepted_proposal_counts_as_the_persons_decision():
    found = told(
        "How is the cache keyed?",
        "The cache is keyed by tenant. Should I add the locale to the key?",
        "Yes, do that.",
        "Added the locale to the key.",
    )
    assert any("locale" in one.text for one in found)
    assert not any(one.text.endswith("?") for one in found)


def test_a_question_heads_its_answer():
    (one,) = told(
        "What are the commands to deploy?",
        "Here are the commands:\n\n**Build:**\n```bash\nmake image\n```\n**Push:**\n```bash\nmake push\n```",
    )
    assert one.text == "Commands to deploy: Build: `make image`. Push: `make push`."
    assert one.label in {"how-to", "environment"}


def test_open_ends_and_status_are_named():
    (one, *_) = told(
        "Where are we with the importer?",
        "**Done:**\n- CSV reader\n\n**Pending:**\n- XLSX reader\n- Progress bar",
    )
    assert one.label == "status"
    assert "Pending: XLSX reader; Progress bar." in " ".join(each.text for each in [one, *_])


@pytest.mark.parametrize(
    "said",
    [
        "Maybe we should evaluate whether Kafka would help here.",
        "Probably the proxy drops the header, must verify.",
        "Vielleicht sollten wir prüfen, ob Kafka hier hilft.",
        "也许我们应该评估是否使用 Kafka。",
        "Kafkaを使うべきかどうか検討したい。",
    ],
)
def test_what_is_said_with_doubt_is_never_settled(said):
    for one in told(said, "It might reduce the load, but I'm not sure."):
        assert one.label not in {"decision", "preference", "constraint", "correction", "fix"}


@pytest.mark.parametrize(
    "said",
    [
        ("thanks", "You're welcome! Anything else?"),
        ("hello", "Hi! How can I help?"),
        ("ok", "Let me check the file first."),
        ("Why?", "Good question."),
    ],
)
def test_small_talk_gives_nothing(said):
    assert told(*said) == []


LANGUAGES = {
    "de": (
        "Wir nehmen Redis statt Memcached, weil wir Listen brauchen.",
        "Ab jetzt immer kurze Commit-Nachrichten.",
        ("Der Import schlägt fehl.", "Ursache: ein Tippfehler in `import.toml`.", "Das hat geholfen."),
    ),
    "fr": (
        "On utilise Redis parce que nous avons besoin de listes.",
        "Je préfère toujours des commits courts.",
        ("L'import échoue.", "La cause: une faute dans `import.toml`.", "Ça marche."),
    ),
    "es": (
        "Vamos a usar Redis porque necesitamos listas.",
        "Siempre prefiero commits cortos.",
        ("La importación falla.", "La causa: un error en `import.toml`.", "Ya funciona."),
    ),
    "ru": (
        "Давай использовать Redis, потому что нам нужны списки.",
        "Всегда пиши короткие коммиты.",
        ("Импорт падает с ошибкой.", "Причина: опечатка в `import.toml`.", "Теперь работает."),
    ),
    "zh": (
        "我们决定用 Redis，因为需要列表。",
        "以后都写简短的提交说明。",
        ("导入报错了。", "原因是 `import.toml` 里有错字。", "好了，解决了。"),
    ),
    "ja": (
        "Redisを使います。リストが必要なためです。",
        "今後はコミットを必ず短く書いてください。",
        ("インポートでエラーが出ます。", "原因は`import.toml`の誤字です。", "直りました。"),
    ),
    "ko": (
        "Redis를 사용하기로 했습니다. 목록이 필요하기 때문입니다.",
        "앞으로는 커밋을 항상 짧게 써 주세요.",
        ("가져오기에서 오류가 납니다.", "원인은 `import.toml`의 오타입니다.", "해결됐어요."),
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_cues_work_in_other_languages(language):
    decision, preference, (failure, remedy, worked) = LANGUAGES[language]
    assert labels(decision, "OK.")[:1] == ["decision"]
    assert labels(preference, "OK.") == ["preference"]
    (fix,) = told(failure, remedy, worked)
    assert (fix.label, fix.who) == ("fix", "user")
    assert "import.toml" in fix.text


def test_unspaced_sentences_are_joined_without_spaces():
    (one,) = told("キャッシュにはRedisを使います。リストが必要なためです。", "")
    assert one.text == "キャッシュにはRedisを使います。リストが必要なためです。"


def test_a_long_session_gives_at_most_twelve_bullets():
    said = []
    for number in range(30):
        said += [
            f"Let's use component{number} for area{number}.",
            f"Component{number} listens on port 9{number:03}.",
        ]
    found = told(*said)
    assert len(found) == 12
    assert [one.first for one in found] == sorted(one.first for one in found)


def test_a_tool_failure_needs_words_about_its_fix():
    session = Session("claude-code", "s1")
    events = [
        Event(0, Kind.USER, Author.PERSON, "Run the linter."),
        Event(1, Kind.TOOL_CALL, Author.MODEL, "lint src", tool="Bash", call="a"),
        Event(
            2, Kind.TOOL_RESULT, Author.TOOL, "error: config key 'strict' is unknown", failed=True, call="a"
        ),
        Event(3, Kind.ASSISTANT, Author.MODEL, "The key was renamed to `strictness` in version 3."),
        Event(4, Kind.TOOL_CALL, Author.MODEL, "lint src", tool="Bash", call="b"),
        Event(5, Kind.TOOL_RESULT, Author.TOOL, "ok", call="b"),
    ]
    found = bullets(next(iter(collect(session, events, Limits()))), DAY)
    fix = next(one for one in found if one.label == "fix")
    assert fix.text.startswith("`lint src` failed: config key 'strict' is unknown. Fix: The key was renamed")
    assert (fix.who, fix.day) == ("tool", DAY)


words = st.sampled_from(
    ["use", "Redis", "because", "port 8080", "`make x`", "no,", "always", "failed", "fixed it", "?", ".", ":", "\n- ",
     "\n```sh\n", "\n```\n", "\n\n", "我们决定用", "。", "**", "1. ", "# ", "|a|b|", "maybe", "the", "日志", "e.g.", "…"]
)  # fmt: skip
texts = st.lists(words, max_size=30).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(st.lists(texts, max_size=8))
def test_nothing_is_invented_and_all_is_bounded(said):
    shown = material(*said)
    found = bullets(shown, DAY)
    assert found == bullets(shown, DAY)
    assert len(found) <= 12
    source = " ".join((*said, "before:")).casefold()
    for one in found:
        assert len(one.text) <= 3 * BULLET_CHARS
        assert len(one.quote) <= 200
        assert "\n" not in one.text
        for word in one.text.casefold().replace("`", " ").replace("。", " ").replace("'", " ").split():
            assert word.strip(".,:;·?!()*…|。") in source


def test_statements_put_a_list_on_one_line_under_its_lead():
    found = [
        one.text for one in statements("Limits:\n\n- 10 a minute\n- 100 an hour\n\nDone. See e.g. the docs.")
    ]
    assert found == ["Limits: 10 a minute; 100 an hour", "Done.", "See e.g. the docs."]


def test_of_code_only_commands_and_settings_stay():
    text = "Start it:\n```bash\nnpm run dev  # port 3000\n```\nConfig:\n```python\nretries = 3\nfor x in y:\n    go(x)\n```"
    assert [one.text for one in statements(text)] == ["Start it: `npm run dev`", "Config: `retries=3`"]
    assert condensed("Like this:\n```js\nfoo(bar)\n```\nGood.") == "Like this.\nGood."


def test_sentences_hold_numbers_abbreviations_and_code_together():
    assert sentences("Use v1.2.3, i.e. the last. It is `a ? b : c` here! 好的。再见。") == [
        "Use v1.2.3, i.e. the last.", "It is `a ? b : c` here!", "好的。", "再见。",
    ]  # fmt: skip


def test_shares_lose_nothing():
    text = "\n".join(f"line {number}" for number in range(200))
    parts = shares(text, 300, 3)
    assert len(parts) == 3
    assert "\n".join(parts) == text


@pytest.mark.parametrize(
    "text",
    ["[" * 60_000, "**a " * 15_000, "e.g. " * 12_000, "`" * 60_000, "a: " * 20_000, "- x\n" * 15_000, "x=1\n" * 15_000,
     "```\n" * 15_000, "。" * 60_000, "I'll now " * 7_000],
    ids=lambda text: text[:4],
)  # fmt: skip
def test_hostile_text_takes_linear_time(text):
    begin = time.process_time()
    statements(condensed(text))
    assert time.process_time() - begin < 4
