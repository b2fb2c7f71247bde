"""A text that turns round what was said is told from one that only words it otherwise."""

from __future__ import annotations

import pytest

from lamina.pipeline.checks.polarity import turned


@pytest.mark.parametrize(
    ("text", "said", "wanted"),
    [
("Use Redis for the cache.","Don't use Redis for the cache, it loses data.",True),
("Never force-push to main.","Force-push to main is fine now that the branch is ours.",True),
("Use database 1 of Redis, not the default one, which job j1 flushes nightly.","No, use database 1 of Redis, not the default one, since the default is flushed nightly by job j1.",False),
("Use ruff instead of flake8.","Never use flake8 again; we use ruff.",False),
("ruff is used, flake8 is not.","We use ruff and not flake8.",False),
("缓存使用 Redis。","缓存不要使用 Redis。",True),("不要使用 Redis 做缓存。","缓存不要使用 Redis。",False),
("キャッシュに Redis を使う。","キャッシュに Redis は使わない。",True),
("캐시에 Redis를 사용한다.","캐시에 Redis를 사용하지 않는다.",True),
("Wir nutzen Redis für den Cache.","Wir nutzen kein Redis für den Cache.",True),
("Tests must not touch the network.","The tests may never touch the network.",False),
("Tests may touch the network.","The tests must never touch the network.",True),
("The cache of module m1 is kept in Redis on port 6001, because restarts must not lose it.","We decided to keep the cache of module m1 in Redis on port 6001, because restarts must not lose it.",False),
("The migration cannot run twice.","Running the migration twice fails, so it can't run twice.",False),
("The migration can run twice.","The migration can't run twice.",True),
("Postgres was chosen because Redis lost jobs.","Use Postgres, Redis did not keep the jobs.",False),
("Deploys on Fridays are forbidden.","No deploys on Fridays.",False),
("Deploys on Fridays are allowed.","No deploys on Fridays.",True),
("Avoid global state in the parser.","Don't use global state in the parser.",False),
("Faça deploy em produção na sexta.", "Não faça deploy em produção na sexta.", True),
("Fai deploy in produzione il venerdì.", "Non fare deploy in produzione il venerdì.", True),
("Деплой в прод по пятницам.", "Никогда не деплой в прод по пятницам.", True),
("شغل النشر يتم يوم الجمعة في الإنتاج.", "شغل النشر لا يتم يوم الجمعة في الإنتاج.", True),
("शुक्रवार को प्रोडक्शन में डिप्लॉय करो।", "शुक्रवार को प्रोडक्शन में डिप्लॉय मत करो।", True),
("По пятницам не деплой в прод.", "Никогда не деплой в прод по пятницам.", False),
    ],
)  # fmt: skip
def test_only_a_flipped_denial_of_the_same_matter_counts(text: str, said: str, wanted: bool) -> None:
    assert turned(text, [said]) is wanted


def test_what_somebody_else_in_the_session_said_the_same_way_is_no_turn() -> None:
    assert not turned(
        "Use Redis for the cache.", ["Don't use Redis for the cache.", "Fine, use Redis for the cache."]
    )


@pytest.mark.parametrize(
    "text",
    [
        "Wir sind von npm auf pnpm umgestiegen.",
        "从 npm 换成 pnpm。",
        "We moved from npm to pnpm.",
        "npm ではなく pnpm を使う。",
        "Vom alten Server zu dem neuen.",
    ],
)
def test_a_change_from_one_to_another_is_read_in_each_language(text: str) -> None:
    assert not turned(text, [text])
