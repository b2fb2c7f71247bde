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

HONEST = """
Signatures must be verified before the job starts
Tokens have to be verified on every request
Rules are evaluated from top to bottom
A build is considered broken if a test fails
The CLI has an option --strict that stops at the first error
Incidents are discussed in #ops
Webhook signatures must be verified before the body is parsed
Passwords must be checked against the leak list
Backups must be confirmed by a second person
Every migration needs to be verified on a copy of production
The release has to be confirmed by the owner of the service
Never deploy when the health check is not confirmed
Unverified e-mail addresses get no invoices
Orders in the state unconfirmed are deleted after 24 hours
The linter evaluates every rule once per file
The scheduler considers adding a worker when the queue is longer than 100
The optimizer considers using an index only above 1000 rows
The client may help itself to a cached copy for 5 minutes
A request may be a retry, so handlers are idempotent
The worker might be restarted at any time, so it keeps no state in memory
Writes may not be cached
Requests that could not be parsed are answered with 400
A handler that could not move the file logs the path and exits
If the disk is full the import might fail, so check the space first
You could be logged out after 15 minutes without a request
Always check whether the index exists before you drop it
Check if the lock file is stale before starting the worker
Verify if the tag exists, then push
The hook checks whether the branch is protected
Tests decide whether a merge is allowed
The parser tests whether the next token is a comma
Use an option object instead of five booleans
Pass --dry-run as an option to see the plan
Some options of the exporter are ignored on Windows
Each job is either queued, running or done
A token is either an access token or a refresh token
Either the owner or a maintainer must approve a merge
The field must be either null or an ISO date
Feature flags are evaluated on the server, never in the browser
Conditions are evaluated lazily
Incoming mail is considered spam above a score of 7
Two addresses are considered equal if they differ only in case
Design changes are discussed in the Tuesday call
TBD fields are left out of the export
The retry budget is not final until the job ends
The schema is not settled by the client but by the server
Expressions in templates seem to the parser like plain text, so quote them
Users who appear to be bots are asked for a captcha
The likely cause is shown first in the report
The estimator returns the most likely class
A hypothesis test runs nightly with 10000 examples
Property tests use Hypothesis
The plan must be checked in beside the code
Invoices under discussion are locked
Pull requests under evaluation carry the label bench
The signature needs to be verified with the public key of the tenant
Don't say perhaps in error messages
The function maybe_null returns an Optional
Errors say what could be done next
The retry is not decided by the client but by the server
Die Signatur muss vor dem Start geprüft werden
Prüfe vor dem Löschen, ob der Index existiert
Der Hook prüft, ob das Branch geschützt ist
Eine Anfrage ist entweder gültig oder wird mit 400 beantwortet
Regeln werden von oben nach unten ausgewertet
Ein Build gilt als kaputt, wenn ein Test fehlschlägt
Der Client testet, ob es einen Proxy gibt
Unklare Angaben werden mit 422 abgelehnt
La signature doit être vérifiée avant de lire le corps
Les règles sont évaluées de haut en bas
Le script sert à vérifier si le fichier existe
Un jeton est soit valide soit expiré
Les adresses à confirmer reçoivent un courriel chaque lundi
Las firmas se deben verificar antes de empezar
Las reglas se evalúan de arriba abajo
Hay que verificar la firma antes de leer el cuerpo
El script sirve para comprobar si el archivo existe
Los pedidos sin confirmar se borran después de 24 horas
Подписи нужно проверять до начала работы
Перед удалением проверить, не занят ли файл
Правила вычисляются сверху вниз
Хук проверяет, защищена ли ветка
Сборка считается сломанной, если падает тест
签名需要验证后才能处理请求
部署前需要确认迁移已经完成
启动前确认端口是否被占用
测试会验证返回值是否为空
规则从上到下依次评估
待确认的订单 24 小时后自动取消
该接口可能返回 404，调用方必须处理
请求可能会重复，所以处理函数必须幂等
脚本会检查文件是不是存在
署名は本文を読む前に検証が必要です
デプロイ前にマイグレーションの確認が必要
削除する前にインデックスが存在するかどうかを確認する
フックはブランチが保護されているかどうかを確認する
ルールは上から順に評価される
未確認の注文は24時間後に削除される
リクエストは重複する可能性があるため、処理は冪等にする
テストが失敗したビルドは壊れたとみなす
서명은 본문을 읽기 전에 확인해야 합니다
배포 전에 마이그레이션 확인이 필요합니다
삭제하기 전에 인덱스가 있는지 확인한다
훅은 브랜치가 보호되는지 확인한다
규칙은 위에서 아래로 평가된다
미확인 주문은 24시간 후에 삭제된다
요청은 중복될 수도 있으므로 처리는 멱등이어야 한다
테스트가 실패하면 빌드는 깨진 것으로 간주한다
로그에는 오류 여부 확인 결과가 남는다
Every upload has to be checked for viruses
Certificates must be confirmed by the platform team
A user is considered active after the first login
Filters are evaluated before the cache is read
Releases are discussed in the weekly meeting
The server has an option to disable compression
Migrations need to be verified on staging first
The checker sees whether a symbol is exported
Requests might arrive out of order, so sort by sequence number
Retries may run twice
The queue might drop events older than a day
The payload may be empty
A response may be up to 5 MB
Callers must check if the token is expired
Test whether the port is free before you bind it
Run make doctor to see whether Redis is reachable
Macros are evaluated at compile time
Never trust a header that is not verified
Do not log tokens, because logs might be public
Always pin versions, since a minor release could break the build
The worker considers a job dead after 30 seconds
Money is stored in cents because floats may round
Links that seem to be broken are listed in the report
The option --maybe is deprecated
The status is either open or closed
Each row holds either a file or a folder
A flaky test is considered failed
The port must be checked by the health probe
Nobody may push to main
Logs may only be read by the on-call engineer
Unclear errors are wrapped in AppError
Evaluate the template before the page is cached
The evaluation runs every night
Discuss incidents in the channel, not in private messages
The assumption of UTC holds everywhere
Names are checked against the list of reserved words
Der Server prüft, ob das Token gültig ist
Vor jedem Release muss geprüft werden, ob es offene Migrationen gibt
Das Feld ist entweder leer oder ein Datum
Bedingungen werden links nach rechts geprüft
Ein Job gilt nach 30 Sekunden als tot
Un compte est considéré comme inactif après 90 jours
Il faut vérifier la signature de chaque requête
Le champ est soit vide soit une date
Cada firma debe comprobarse antes de guardar
Una cuenta se considera inactiva tras 90 días
Antes de borrar hay que comprobar si el índice existe
Аккаунт считается неактивным через 90 дней
Условия проверяются слева направо
Сервер проверяет, действителен ли токен
每次请求都必须验证签名
账号 90 天不登录视为停用
尽可能复用连接
不可能同时有两个主节点
条件按从左到右的顺序评估
未验证的邮箱不能下单
写入可能失败，因此必须重试
リクエストごとに署名を検証すること
90日間ログインがないアカウントは休止とみなす
条件は左から順に評価する
書き込みは失敗することがあるので再試行する
新しいブランチから作業する
結果は以下のようです
모든 요청은 서명을 검증해야 한다
모든 PR은 두 명이 검토해야 한다
조건은 왼쪽부터 평가한다
배포는 아마존 S3에 한다
목록에는 열 개만 보인다
PR을 검토하는 사람은 두 명이다
쓰기는 실패할 수 있으므로 재시도한다
Sessions have to be confirmed by mail within an hour
Hooks must be tested on Windows too
Comparisons are evaluated with short circuit
A branch is considered stale after 30 days
Proposals are discussed on the mailing list
The table has an option column of type jsonb
Snapshots have to be evaluated by a person before release
The gate decides whether a deploy may start
The loader checks if a plugin is signed
Workers might receive a message twice, so deduplicate by id
Uploads may take up to 10 minutes
Values may contain commas
The reader will check whether the magic bytes match
You must check whether the lock is held before writing
A retry might create a duplicate, therefore use an idempotency key
Plugins could throw, so wrap every call
Do not cache errors because they might be temporary
The flag considers only direct dependencies
A cell is either a number or a string
An estimate is shown when the total is not final
The verifier rejects tokens that are not confirmed
Look at the log first to see whether the job ran
Use exit code 2 if the result is unclear
Doubtful rows are marked with unsure=true
We evaluate models on the held-out set
Reviewers decide if a change needs a migration
Keep it simple: what could be a function should not be a class
Der Build gilt erst als fertig, wenn alle Tests laufen
Der Parser entscheidet, ob es sich um eine Liste handelt
Tokens müssen bei jedem Aufruf geprüft werden
Le serveur vérifie si le jeton est valide
Chaque valeur est soit un nombre soit une chaîne
Las reglas se discuten en el canal de equipo
El servidor comprueba si el token es válido
Заявки обсуждаются в канале
解析器会判断字段是否为空
缺少索引可能导致慢查询，因此每张表都要建索引
发布前检查配置是否完整
讨论放在 issue 里进行
パーサーは値が空かどうかを判定する
キャッシュは古い可能性があるので毎回検証する
起動時に設定が正しいかどうかを確認する
파서는 값이 비어 있는지 확인한다
변경 사항은 회의에서 논의한다
캐시가 오래될 수도 있기 때문에 매번 검증한다
"""
"""Rules and facts in the words of doubt: what is checked, considered, possible or evaluated as it should be."""

OPEN = """
This still has to be verified on Windows
The fix needs to be verified under load
We must verify that the cache helps first
It must still be checked whether the index is used
Redis is being evaluated for the queue
The new pricing is under discussion
The move to Kafka is still being discussed
Postgres is considered for the ledger
Another option would be SQLite
Check whether the new index helps
We should find out if the proxy drops headers
To be verified: the limit is 100 requests
The import might be slow because of the disk
It might break on Windows
That could be the reason for the timeouts
A stale cache might be the cause
The leak is unconfirmed
The cause is either the proxy or the DNS
Either pnpm or yarn will be used
Keep SQLite for now, which must be checked under load
I need to verify the limit
The likely cause is the proxy
Next: test whether Tantivy is faster
A bigger pool might help
TBD: the name of the bucket
Muss noch geprüft werden, gilt aber wohl für alle Mandanten
Wir müssen klären, ob der Proxy schuld ist
Die Ursache ist entweder der Proxy oder das DNS
Reste à vérifier sous Windows
Il faut voir si le proxy est en cause
La cause est soit le proxy soit le DNS
Falta confirmar el límite
Hay que ver si el proxy es la causa
La causa sigue sin confirmar
Возможно, дело в прокси
Надо проверить, не в прокси ли дело
原因可能在代理
这点仍需验证
方案需要评估
需要确认一下代理是否有问题
可能是缓存的问题，所以先清空
プロキシが原因かどうかを確認する
プロキシが原因の可能性があります
上限は未確認です
明日届くはずです
프록시가 원인인지 확인해야 한다
상한은 아직 확인이 필요합니다
Kafka 도입을 검토 중입니다
원인은 프록시로 보입니다
상한은 미확인
We want to see whether batching helps
Let's test if the pool is too small
The choice must still be confirmed
The move to ARM is being considered
Find out whether the mail was sent
It could be the proxy
Retries might be the reason
The numbers have to be checked
Not yet clear which region we use
Somebody should verify that the backup works
Ich bin unsicher, ob das reicht
Das muss noch geklärt werden
Es liegt entweder am Proxy oder am DNS
On pourrait passer à SQLite
Tal vez sea el proxy
也许是代理
需要再确认一下上限
看看是否能用 Tantivy
おそらくプロキシが原因です
Tantivyが速いかどうか検証する
아마 프록시 때문이다
Tantivy가 더 빠른지 검토할 예정이다
"""
"""Doubts, choices left open and things to look at, in the words of rules."""

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


def test_rules_and_facts_in_the_words_of_doubt_are_rarely_taken_for_one():
    taken = [text for text in lines(HONEST) if hedged(text)]
    assert len(taken) <= 0.02 * len(lines(HONEST)), taken


def test_doubts_in_the_words_of_rules_are_rarely_missed():
    missed = [text for text in lines(OPEN) if not hedged(text)]
    assert len(missed) <= 0.02 * len(lines(OPEN)), missed


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            "Verify webhook signatures before the body is parsed",
            "Webhook signatures must be verified before the body is parsed.",
        ),
        ("Evaluate rules from top to bottom", "Rules are evaluated from top to bottom"),
        ("Discuss incidents in #ops", "Incidents are discussed in #ops"),
    ],
)
def test_a_rule_that_is_worded_otherwise_settles_nothing(rule, said):
    assert not hardened(rule, said)


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
        "never " * 9_000,
        "a b may " * 9_000,
        "if it is not " * 6_000,
        "check if " * 6_000 + "then",
        "antes de comprobar si " * 3_000,
        "可能" * 9_000 + "，所以",
        "必ずフックは" * 9_000,
        "might be maybe " * 5_000,
    ],
)
def test_hostile_text_takes_linear_time(text):
    begin = time.process_time()
    hardened(text[:-1] + "x", text)
    assert time.process_time() - begin < 3
