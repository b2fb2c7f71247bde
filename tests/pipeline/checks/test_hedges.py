"""A supposition stays one: what was only supposed is never stated as settled."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.pipeline.checks.hedges import hardened, hedged

DOUBTFUL = """
The leak is probably in the image cache
Maybe we should move to Postgres
Evaluate whether Redis would help here
This must be verified on Windows
I think the port is 8080, not sure though
The build might be slow because of the linter
Perhaps the timeout is too short
We could use SQLite instead
It seems to be a race condition
It looks like the token expired
The cause is unclear
Consider switching to pnpm
Either Redis or Memcached, we have not decided
Should we use Redis?
What if we dropped Python 3.10
The deadline is to be confirmed
Whether to shard is still undecided, we'll see
Vielleicht liegt es am Cache
Wahrscheinlich ist der Port belegt
Prüfen, ob Redis hilft
Das könnte an der Datenbank liegen
Ich glaube, der Port ist 8080
Noch nicht entschieden: entweder Redis oder Memcached
Es scheint ein Netzwerkfehler zu sein
Peut-être que le cache est en cause
Il faudrait évaluer si Redis aide
Le délai est à confirmer
Je pense que le port est 8080
Ça pourrait venir du réseau
Quizás el problema es la caché
Podríamos usar SQLite
Evaluar si Redis ayuda
No estoy seguro del puerto
Parece que el token caducó
可能是缓存的问题
也许应该换成 PostgreSQL
评估一下 Redis 是否有帮助
端口大概是 8080，不确定
这个还需要验证
要么用 Redis 要么用 Memcached，还没决定
是不是网络的问题
考虑改用 pnpm
たぶんキャッシュの問題です
ポートは8080かもしれません
Redisが役立つかどうか検討する
トークンが切れたようです
PostgreSQLにしたほうがいいと思います
移行先は未定です
この件は要確認
아마 캐시 문제일 것입니다
포트가 8080일 수도 있습니다
Redis가 도움이 되는지 검토해야 한다
토큰이 만료된 것 같습니다
일정은 미정입니다
pnpm으로 바꾸는 것을 고려 중입니다
Redis를 쓸까요?
"""

SETTLED = """
Tests must pass before a merge
Commits should always be signed
We decided that X may be used in tests
Never force-push to main
The script checks whether the file exists
Use pnpm, not npm
The port is 8080
Users may upload up to 10 files
It was confirmed that the cache leaked
We considered Redis and chose Postgres
May 5 is the release day
The seed must be set before the run
Keep answers short
CI runs on Python 3.12
The maybe_retry function wraps the client
Tests müssen vor dem Merge laufen
Der Port ist 8080
Wir haben uns für Redis entschieden
Niemals auf main pushen
Die Tests laufen auf Python 3.12
Les tests doivent passer avant la fusion
Le port est 8080
On a décidé d'utiliser Redis
Los tests deben pasar antes del merge
El puerto es 8080
Decidimos usar Redis
合并前必须通过测试
端口是 8080
我们决定使用 Redis
禁止强制推送
部署前先跑迁移
マージ前にテストを通すこと
ポートは8080です
Redisを使うことに決めました
mainへの強制プッシュは禁止
병합 전에 테스트를 통과해야 한다
포트는 8080입니다
Redis를 사용하기로 했습니다
강제 푸시는 금지
"""

HARDENED = [
    ("The leak is in the image cache", "The leak is probably in the image cache.", True),
    ("Redis helps here", "Evaluate whether Redis would help here", True),
    ("We use Redis for the cache", "Should we use Redis for the cache?", True),
    ("We use Redis for the cache", "Should we use Redis for the cache?\nYes, do it.", False),
    ("The port is 8080", "I think the port is 8080. Not sure.", True),
    ("The port is 8080", "The port is 8080. Not sure about the host.", True),
    ("The port is 8080", "Maybe the port is 8080.\nI checked: the port is 8080.", False),
    ("The leak is probably in the image cache", "The leak is probably in the image cache.", False),
    ("We use Redis for the cache", "We use Redis for the cache; maybe Postgres for the queue later.", False),
    ("Postgres is for the queue", "We use Redis for the cache; maybe Postgres for the queue later.", True),
    ("Redis is the cache", "Either Redis or Memcached will be the cache, we have not decided.", True),
    ("Tests must pass before a merge", "Tests must pass before a merge", False),
    ("Der Port ist belegt", "Wahrscheinlich ist der Port belegt.", True),
    ("Der Port ist belegt", "Der Port ist belegt.", False),
    ("缓存有问题", "可能是缓存有问题", True),
    ("缓存有问题", "缓存有问题，已经确认了", False),
    ("端口是 8080", "端口大概是 8080", True),
    ("ポートは8080です", "ポートは8080かもしれません", True),
    ("ポートは8080です", "ポートは8080です。", False),
    ("포트는 8080입니다", "포트는 8080일 수도 있습니다", True),
    ("포트는 8080입니다", "포트는 8080입니다", False),
    ("Le cache est en cause", "Peut-être que le cache est en cause", True),
    ("El problema es la caché", "Quizás el problema es la caché", True),
    ("The cache leaks", "可能是 cache 泄漏", True),
    ("PostgreSQL is better", "PostgreSQLのほうがいいと思います", True),
    ("Anything", "", False),
]


def lines(table: str) -> list[str]:
    return [line for line in table.splitlines() if line]


@pytest.mark.parametrize("text", lines(DOUBTFUL))
def test_a_supposition_is_one(text):
    assert hedged(text)


@pytest.mark.parametrize("text", lines(SETTLED))
def test_a_rule_or_a_fact_is_no_supposition(text):
    assert not hedged(text)


@pytest.mark.parametrize("text,said,expected", HARDENED)
def test_a_doubt_is_not_made_a_fact(text, said, expected):
    assert hardened(text, said) is expected


def test_a_settled_text_is_never_hardened_by_itself():
    assert not [text for text in lines(SETTLED) if hardened(text, text)]


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_taken(text, said):
    assert hardened(text, said) in {True, False}


@pytest.mark.parametrize(
    "text",
    [
        "either " * 9_000,
        "可能" * 30_000,
        "? " * 30_000,
        "entweder " * 8_000,
        "要么" * 30_000,
        "soit " * 9_000,
    ],
)
def test_hostile_text_takes_linear_time(text):
    begin = time.process_time()
    hardened(text[:-1] + "x", text)
    assert time.process_time() - begin < 3
