"""A word's opposite, a lost condition and a lost past are told from honest rewording."""

from __future__ import annotations

import pytest

from lamina.pipeline.checks.opposites import opposed, unbound


@pytest.mark.parametrize(
    ("said", "text", "wanted"),
    [
        ("Keep at most 5 backups of the shop.", "Keep at least 5 backups of the shop.", True),
        ("Keep at most 5 backups of the shop.", "Keep no more than 5 backups of the shop.", False),
        ("Redis is slower than Postgres for the cache.", "Redis is faster than Postgres for the cache.", True),
        ("Increase the cache of the shop before deploys.", "Decrease the cache of the shop before deploys.", True),
        ("Run the migrations before the deploy.", "Run the migrations after the deploy.", True),
        ("Run the migrations before the deploy, the smoke tests after it.", "Run the smoke tests after the deploy, the migrations before it.", False),
        ("Die Sicherung läuft vor dem Deploy der Datenbank.", "Die Sicherung läuft nach dem Deploy der Datenbank.", True),
        ("备份至少保留五份。", "备份至多保留五份。", True),
        ("バックアップは五つ以上残す。", "バックアップは五つ以下残す。", True),
        ("백업은 다섯 개 이상 보관한다.", "백업은 다섯 개 이하 보관한다.", True),
        ("Enable gzip for the static files.", "gzip is enabled for the static files.", False),
        ("The importer was added to the nightly job.", "The nightly job runs the importer.", False),
        ("More memory made the build of the docs faster.", "The build of the docs became faster with more memory.", False),
        ("The first shard holds the orders, the last the invoices.", "Orders are in the first shard, invoices in the last one.", False),
    ],
)  # fmt: skip
def test_an_opposite_in_a_words_place_is_seen(said: str, text: str, wanted: bool) -> None:
    assert opposed(text, [said]) is wanted


@pytest.mark.parametrize(
    ("said", "text", "wanted"),
    [
        ("If Redis fails again, we use Kafka for the cache.", "We use Kafka for the cache.", True),
        ("If Redis fails again, we use Kafka for the cache.", "Kafka is used for the cache if Redis fails again.", False),
        ("The old plan was to use Kafka for the cache.", "Use Kafka for the cache.", True),
        ("We used to deploy by hand on the old server.", "Deploy by hand on the old server.", True),
        ("如果 Redis 再失败，缓存就用 Kafka。", "缓存用 Kafka。", True),
        ("Use Kafka for the cache. If Redis fails again we talk.", "Use Kafka for the cache.", False),
        ("Deploy on Mondays.", "Deploy on Mondays.", False),
    ],
)  # fmt: skip
def test_a_lost_condition_and_a_lost_past_are_seen(said: str, text: str, wanted: bool) -> None:
    assert unbound(text, [said]) is wanted
