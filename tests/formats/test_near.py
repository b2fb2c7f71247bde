import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.formats.near import nearly_same

SAME = [
    ("We use pnpm.", "we use pnpm"),
    ("The user prefers dark mode in the editor.", "User prefers dark mode in the editor"),
    ("Deploys go out on Fridays after lunch", "On Fridays after lunch, deploys go out"),
    ("The API server isn't behind the proxy", "The API server is not behind the proxy"),
    ("It can't be cached", "It cannot be cached"),
    ("Keep `foo.py` small", "keep **`foo.py`** small!"),
    ("Use v2.1 of the client.", "use v2.1 of the client"),
    (
        "The nightly build deploys the docs to staging every evening",
        "The nightly build deploys docs to staging every single evening",
    ),
    ("Der Server läuft auf Port 8080.", "der Server läuft auf Port 8080"),
    ("我们使用空格缩进。", "我们用空格缩进的"),
    ("ポート8080を使う", "ポート8080を使います。"),
    ("서버는 포트 8080을 사용한다", "서버가 포트 8080을 사용합니다"),
    ("Мы используем сервер на порту 8080", "мы используем сервера на порту 8080."),
    ("Le serveur est derrière le proxy", "Un serveur est derrière un proxy"),
]
DIFFERENT = [
    ("The port is 8080", "The port is 8081"),
    ("Use v2.1", "Use v2.2"),
    ("Limit is 10,000 rows", "Limit is 100,000 rows"),
    ("Offset is -5", "Offset is 5"),
    ("x < 5", "x > 5"),
    ("Budget is 5 €", "Budget is 5 $"),
    ("Config in src/app.py", "Config in src/api.py"),
    ("use the user_id column", "use the userId column"),
    ("Run it with --dry-run first", "Run it with --force first"),
    ("Set DEBUG in the shell", "Set TRACE in the shell"),
    ("The cache is enabled", "The cache is not enabled"),
    ("The cache is enabled", "The cache is disabled"),
    (
        "The build is green on main and all other long lived branches",
        "The build is only green on main and all other long lived branches",
    ),
    ("We use spaces for indentation", "We use tabs for indentation"),
    ("Alice owns the deploy", "Bob owns the deploy"),
    ("Ask Alice about deploys on Monday", "Ask Bob about deploys on Monday"),
    (
        "We decided to migrate the payment service to Postgres",
        "We decided to migrate the payment service from Postgres",
    ),
    ("worker calls api", "api calls worker"),
    ("Prefer npm over pnpm in this repository", "Prefer pnpm over npm in this repository"),
    ("timeout 30, retry 5", "timeout 5, retry 30"),
    ("timeout 30 seconds, retries 5 times", "retries 30 times, timeout 5 seconds"),
    ("端口是8080", "端口是8081"),
    ("我们使用空格缩进", "我们使用制表符缩进"),
    ("服务器启用缓存", "服务器不启用缓存"),
    ("サーバーはキャッシュを使う", "サーバーはキャッシュを使わない"),
    ("8時から開始", "8時まで開始"),
    ("서버는 캐시를 사용한다", "서버는 캐시를 사용하지 않는다"),
    ("Der Server ist aktiv im Netz", "Der Server ist nicht aktiv im Netz"),
    ("Le serveur utilise le cache disque", "Le serveur n'utilise pas le cache disque"),
    ("El servidor usa caché en disco", "El servidor no usa caché en disco"),
    ("Сервер использует кэш на диске", "Сервер не использует кэш на диске"),
    ("เซิร์ฟเวอร์ใช้แคช", "เซิร์ฟเวอร์ไม่ใช้แคช"),
    ("الخادم يعمل اليوم", "الخادم لا يعمل اليوم"),
    ("port ٨٠٨٠", "port ٨٠٨١"),
    ("!!!", "???"),
    ("", ""),
]


@pytest.mark.parametrize("one, other", SAME)
def test_almost_the_same_words_are_nearly_the_same(one, other):
    assert nearly_same(one, other)
    assert nearly_same(other, one)


@pytest.mark.parametrize("one, other", DIFFERENT)
def test_what_may_be_a_correction_is_not_nearly_the_same(one, other):
    assert not nearly_same(one, other)
    assert not nearly_same(other, one)


@given(st.text(max_size=60), st.text(max_size=60))
def test_it_is_symmetric_and_never_fails(one, other):
    assert nearly_same(one, other) == nearly_same(other, one)


@given(st.text(max_size=40), st.integers(0, 999), st.integers(0, 999))
def test_another_number_is_always_another_text(text, one, other):
    assert nearly_same(f"{text} port {one}", f"{text} port {other}") == (one == other)
