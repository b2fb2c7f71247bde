"""How a new statement stands to an old one: a wrong supersession loses knowledge, so precision comes first."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.pipeline.checks.conflicts import Relation, Statement, relation

PAIRS = """
# a value, name or number differs
changed | CI runs on Python 3.11 | CI runs on Python 3.12
changed | CI runs on Python 3.11. | CI now runs on Python 3.12.
changed | CI uses Python 3.11 | CI runs on Python 3.12 now
changed | The API port is 8080 | The API port is 9090
changed | The request timeout is 30 s | The request timeout is 60s
changed | The request timeout is 30 seconds | The request timeout is now 45 seconds because uploads were cut
changed | Retries are limited to 3 | Retries are limited to 5
changed | At most 200 rows are shown at once; the limit is 200 | At most 200 rows are shown at once; the limit is 500
changed | The session cache lives in Redis | The session cache lives in Memcached
changed | We use Redis for the session cache | We use Memcached for the session cache
changed | We use Vite for the bundle | We use Rollup for the bundle
changed | The default branch is main | The default branch is trunk
changed | Deploys happen on Tuesdays | Deploys happen on Thursdays
changed | Backups run nightly | Backups run weekly
changed | Production is hosted in Frankfurt | Production is hosted in Dublin
changed | The database is PostgreSQL 15 | The database is PostgreSQL 16
changed | Node 20.10.0 is used; the image is built on node:20 | Node 20.10.0 is used; the image is built on node:22
changed | Log files are kept for 14 days | Log files are kept for 30 days
changed | MAX_UPLOAD is set to 10 MB | MAX_UPLOAD is set to 25 MB
changed | The staging URL is https://staging.example.org | The staging URL is https://stage.example.net
changed | CI runs on Jenkins | CI moved from Jenkins to GitHub Actions
changed | We use webpack for the bundle | We use Vite instead of webpack for the bundle
changed | Sessions expire after 24 hours | Sessions expire after 12 hours
changed | Coverage must stay above 80% | Coverage must stay above 85%
changed | The release deadline is 2026-12-05 | The release deadline is 2026-12-12
changed | Code is indented with tabs | Code is indented with spaces
changed | CI 使用 Python 3.11 | CI 使用 Python 3.12
changed | CI 使用 Python 3.11 | CI 现在使用 Python 3.12
changed | 服务端口是 8080 | 服务端口是 9090
changed | 服务端口是 8080 | 服务端口改为 9090
changed | 会话缓存放在 Redis | 会话缓存放在 Memcached
changed | 请求超时设置为 30 秒 | 请求超时设置为 60 秒
changed | 日志保留 14 天 | 日志保留 30 天
changed | 生产数据库是 MySQL | 生产数据库改用 PostgreSQL
changed | 默认分支是 main | 默认分支是 trunk
changed | 每周二部署 | 每周四部署
changed | 包管理器用 npm | 包管理器改用 pnpm
changed | CIはPython 3.11で動く | CIはPython 3.12で動く
changed | サーバーのポートは8080です | サーバーのポートは9090です
changed | セッションのキャッシュにはRedisを使う | セッションのキャッシュにはMemcachedを使う
changed | タイムアウトは30秒です | タイムアウトは60秒です
changed | ログは14日間保存する | ログは30日間保存する
changed | 本番環境は東京リージョンで動く | 本番環境は大阪リージョンで動く
changed | デフォルトブランチはmainです | デフォルトブランチはtrunkになりました
changed | パッケージ管理にはnpmを使う | パッケージ管理にはpnpmを使う
changed | CI는 Python 3.11에서 실행된다 | CI는 Python 3.12에서 실행된다
changed | 서버 포트는 8080입니다 | 서버 포트는 9090입니다
changed | 세션 캐시는 Redis를 사용한다 | 세션 캐시는 Memcached를 사용한다
changed | 요청 타임아웃은 30초입니다 | 요청 타임아웃은 60초입니다
changed | 로그는 14일 동안 보관한다 | 로그는 30일 동안 보관한다
changed | 기본 브랜치는 main이다 | 기본 브랜치는 trunk이다
changed | CI läuft auf Python 3.11 | CI läuft auf Python 3.12
changed | CI läuft auf Python 3.11 | CI läuft jetzt auf Python 3.12
changed | Der Port der API ist 8080 | Der Port der API ist 9090
changed | Das Zeitlimit beträgt 30 Sekunden | Das Zeitlimit beträgt 60 Sekunden
changed | Wir nutzen Redis für den Sitzungsspeicher | Wir nutzen Memcached für den Sitzungsspeicher
changed | Protokolle bleiben 14 Tage liegen | Protokolle bleiben 30 Tage liegen
changed | Der Standard-Branch ist main | Der Standard-Branch ist trunk
changed | Wir deployen immer am Dienstag | Wir deployen immer am Donnerstag
changed | 我们的 API 端口是 8080 | 我们的 API 端口是 8081
# a negation flipped
negated | Never force-push | Force-push is fine now
negated | Force-push is allowed | Never force-push
negated | The build uses webpack | The build no longer uses webpack
negated | Do not commit generated files | Commit generated files
negated | Deploy on Fridays | Never deploy on Fridays
negated | Telemetry is enabled | Telemetry is disabled
negated | Squash merges are allowed | Squash merges are not allowed
negated | The tests need Docker | The tests don't need Docker any more
negated | Use default exports | Avoid default exports
negated | 使用 webpack 打包 | 不再使用 webpack 打包
negated | 禁止强制推送 | 允许强制推送
negated | 周五可以部署 | 周五不能部署
negated | 不要提交生成的文件 | 提交生成的文件
negated | mainへの強制プッシュは禁止 | mainへの強制プッシュは許可
negated | ビルドにwebpackを使う | ビルドにwebpackを使わない
negated | 金曜日にデプロイする | 金曜日にデプロイしない
negated | 강제 푸시는 금지한다 | 강제 푸시는 허용한다
negated | 빌드에 webpack을 사용한다 | 빌드에 webpack을 사용하지 않는다
negated | Der Build nutzt webpack | Der Build nutzt webpack nicht mehr
negated | Am Freitag wird deployt | Am Freitag wird nie deployt
negated | Force-Push ist verboten | Force-Push ist erlaubt
# the same
same | CI runs on Python 3.11 | CI runs on Python 3.11.
same | The API port is 8080 | The API's port is 8080
same | We use Redis for the session cache | The session cache uses Redis
same | On Fridays we deploy to staging | We deploy to staging on Fridays
same | Never force-push | never force-push!
same | The timeout is 30 s | The timeout is 30s
same | 服务端口是 8080 | 服务的端口是 8080
same | CIはPython 3.11で動く | CIはPython 3.11で動きます
same | 서버 포트는 8080입니다 | 서버 포트는 8080이다
same | CI läuft auf Python 3.11 | Die CI läuft auf Python 3.11
same | CI runs on Python 3.11 because 3.10 is too old | CI runs on Python 3.11
# all of the old and more
refined | CI runs on Python 3.11 | CI runs on Python 3.11 and uploads coverage to Codecov
refined | Never force-push | Never force-push. Open a pull request instead.
refined | 服务端口是 8080 | 服务端口是 8080，管理端口是 8081
refined | CIはPython 3.11で動く | CIはPython 3.11で動く。カバレッジも計測する。
refined | 서버 포트는 8080입니다 | 서버 포트는 8080입니다. 관리 포트는 8081입니다.
refined | CI läuft auf Python 3.11 | CI läuft auf Python 3.11. Die Abdeckung wird gemessen.
# another matter
other | The port of web is 8080 | The port of api is 9090
other | The port of web is 8080 | The port of api is 8080
other | web listens on port 8080 | api listens on port 9090
other | The web service uses Postgres | The api service uses Postgres
other | We use Redis for the cache | We use Redis for the job queue
other | We use pytest for unit tests | We use Playwright for browser tests
other | The request timeout is 30 s | The upload timeout is 60 s
other | The web port is 8080 | The web admin port is 9090
other | The timeout is 30 s | The timeout is 60 s for uploads
other | Deploys happen on Tuesdays | Backups happen on Thursdays
other | Step 1: install the dependencies | Step 2: run the migrations
other | Issue #12 is fixed | Issue #13 is fixed
other | Server 1 has 16 GB | Server 2 has 32 GB
other | Deployed v1.2 to staging | Deployed v1.3 to staging
other | We released 2.1 on Monday | We released 2.2 on Friday
other | Phase 2 is done | Phase 3 is done
other | Tests are slow | Tests are flaky
other | Ana owns billing | Ben owns search
other | Never force-push to main | Force-push is fine on feature branches
other | Do not use Redis for sessions | Use Redis for caching
other | Never deploy on Fridays | Deploy on Mondays
other | Never log tokens | Log requests at debug level
other | Postgres backups run at 02:00 | We moved from Postgres to MySQL
other | The linter is ruff | The type checker is mypy
other | Line length is 110 in Python | Line length is 80 in Markdown
other | src/cache.py holds the cache | src/queue.py holds the queue
other | alice prefers tabs | bob prefers spaces
other | The worker calls the scheduler | The scheduler calls the worker
other | Migration 0012 adds an index | Migration 0013 adds a column
other | We use eslint | We use prettier
other | The staging database is PostgreSQL 15 | The production database is PostgreSQL 16
other | US traffic goes to Virginia | EU traffic goes to Frankfurt
other | In staging the timeout is 30 s | In production the timeout is 60 s
other | Redis holds 4 GB | Kafka holds 8 GB
other | The build takes 4 minutes | The tests take 9 minutes
other | dev uses SQLite | prod uses PostgreSQL
other | Linux builds run on GitHub | Windows builds run on Azure
other | The frontend is written in TypeScript | The backend is written in Rust
other | GET requests are cached for 60 s | POST requests are cached for 0 s
other | Python 3.11 is slow at start | Python 3.12 is slow at start
other | web 的端口是 8080 | api 的端口是 9090
other | 前端端口是 3000 | 后端端口是 8000
other | 缓存用 Redis | 队列用 RabbitMQ
other | 不要在周五部署 | 周一部署
other | 第一步安装依赖 | 第二步运行迁移
other | 测试环境超时是 30 秒 | 生产环境超时是 60 秒
other | 修复了 #12 | 修复了 #13
other | 前端使用 TypeScript | 后端使用 Rust
other | 开发环境用 SQLite | 生产环境用 PostgreSQL
other | 订单服务监听 8080 | 支付服务监听 9090
other | webのポートは8080です | apiのポートは9090です
other | フロントエンドはTypeScriptを使う | バックエンドはRustを使う
other | キャッシュにはRedisを使う | キューにはRabbitMQを使う
other | 開発環境のタイムアウトは30秒です | 本番環境のタイムアウトは60秒です
other | 金曜日にデプロイしない | 月曜日にデプロイする
other | v1.2をリリースした | v1.3をリリースした
other | ログは14日間保存する | バックアップは30日間保存する
other | 웹 포트는 8080입니다 | 관리 포트는 9090입니다
other | 프론트엔드는 TypeScript를 사용한다 | 백엔드는 Rust를 사용한다
other | 캐시는 Redis를 사용한다 | 큐는 RabbitMQ를 사용한다
other | 개발 환경 타임아웃은 30초입니다 | 운영 환경 타임아웃은 60초입니다
other | 로그는 14일 보관한다 | 백업은 30일 보관한다
other | Der Port von web ist 8080 | Der Port von api ist 9090
other | Das Frontend nutzt TypeScript | Das Backend nutzt Rust
other | Die Staging-Datenbank ist PostgreSQL 15 | Die Produktionsdatenbank ist PostgreSQL 16
other | Nie am Freitag deployen | Am Montag deployen
other | Schritt 1: Abhängigkeiten installieren | Schritt 2: Migrationen ausführen
other | Protokolle bleiben 14 Tage | Sicherungen bleiben 30 Tage
other | Wir nutzen Redis für den Cache | Wir nutzen Redis für die Warteschlange
other | The cache is in Redis | 队列用 RabbitMQ
other | 前端用 Vite | The backend uses FastAPI
other | CIはGitHub Actionsで動く | The deploy script runs on Jenkins
# written after the rules, to see whether they hold
other | The invoices table has 12 columns | The orders table has 14 columns
other | Users in Germany see prices in EUR | Users in Poland see prices in PLN
other | The login page uses React 18 | The admin page uses React 17
other | The mobile app supports iOS 16 | The mobile app supports Android 13
other | Maria reviews the backend | Tom reviews the frontend
other | The rate limit for guests is 10 | The rate limit for members is 100
other | GitHub stores the code | GitLab stores the code of the client
other | Secrets live in Vault | Feature flags live in LaunchDarkly
other | The parser is fast | The parser is small
other | API v1 returns XML | API v2 returns JSON
other | The customer Acme uses SSO | The customer Globex uses SSO
other | We use black for formatting | We use isort for imports
other | HTTP 404 is returned for a missing user | HTTP 409 is returned for a duplicate user
other | Error E101 means a missing file | Error E102 means a broken file
other | Do not edit generated code | Do not edit vendored code
other | The job runs at 02:00 on weekdays | The job runs at 05:00 on weekends
other | The disk of host a1 has 500 GB | The disk of host a2 has 500 GB
other | The model costs 3 dollars per million input tokens | The model costs 15 dollars per million output tokens
other | 用户服务用 Go | 网关用 Rust
other | 周一开例会 | 周三发布版本
other | 错误码 1001 表示未登录 | 错误码 1002 表示无权限
other | 张三负责支付 | 李四负责订单
other | ユーザーサービスはGoで書く | ゲートウェイはRustで書く
other | エラー1001は未ログインを表す | エラー1002は権限なしを表す
other | 사용자 서비스는 Go로 작성한다 | 게이트웨이는 Rust로 작성한다
other | 월요일에 회의한다 | 수요일에 배포한다
other | Der Dienst A lauscht auf 8080 | Der Dienst B lauscht auf 9090
other | Fehler 1001 heißt nicht angemeldet | Fehler 1002 heißt keine Rechte
other | Anna pflegt die Doku | Ben pflegt die Tests
other | The web app is written in TypeScript | The cli is written in Go
other | Unit tests take 2 minutes | Integration tests take 9 minutes
other | Tabs are used in Makefiles | Spaces are used in Python files
other | The cache holds 100 sessions | The cache holds 50 pages
other | Do not restart the worker by hand | Restart the web server by hand
other | Alpha is deployed to us-east-1 | Beta is deployed to eu-west-1
other | The orders API returns JSON | The orders API returns 404 for unknown ids
other | The team prefers small pull requests | The team prefers short meetings
other | We have two environments: staging and production | We have three teams: core, web and data
other | Postgres is used for orders | Redis is used for sessions
other | The feature flag new_checkout is on | The feature flag new_search is off
other | Never call the payment API in tests | Call the search API in tests
changed | The minimum password length is 8 | The minimum password length is 12
changed | The package is published to npm | The package is published to JSR
changed | The worker has a concurrency of 4 | The worker has a concurrency of 8
changed | The API base path is /api/v1 | The API base path is /api/v2
changed | Our Kubernetes version is 1.28 | Our Kubernetes version is 1.30
changed | The on-call contact is Ana | The on-call contact is Ben
changed | Emails are sent with SendGrid | Emails are sent with Postmark
changed | The frontend is written in JavaScript | The frontend is written in TypeScript
changed | Feature branches live at most 3 days | Feature branches live at most 5 days
changed | 前端框架是 Vue 2 | 前端框架是 Vue 3
changed | 最大上传大小为 10MB | 最大上传大小为 50MB
changed | 接口限流为每秒 100 次 | 接口限流为每秒 200 次
changed | アップロードの上限は10MBです | アップロードの上限は50MBです
changed | 본번 서버는 서울 리전에 있다 | 본번 서버는 도쿄 리전에 있다
changed | 업로드 제한은 10MB이다 | 업로드 제한은 50MB이다
changed | Die maximale Dateigröße ist 10 MB | Die maximale Dateigröße ist 50 MB
changed | Das Team trifft sich montags um 9 Uhr | Das Team trifft sich montags um 10 Uhr
negated | The API requires a token | The API no longer requires a token
negated | Use semicolons | Do not use semicolons
negated | Merge commits are forbidden | Merge commits are allowed
negated | 提交前要跑测试 | 提交前不用跑测试
negated | テストは必須です | テストは必須ではない
negated | Wir nutzen Docker | Wir nutzen kein Docker
"""

ROWS = [
    tuple(cell.strip() for cell in line.split(" | "))
    for line in PAIRS.splitlines()
    if line.strip() and line[0] != "#"
]


def stands(new: str, old: str, *, topic: str = "build and run") -> Relation:
    return relation(Statement("", new, topic), Statement("", old, topic))


def found() -> list[tuple[str, str, str, str]]:
    return [(wanted, stands(new, old).value, old, new) for wanted, old, new in ROWS]


def test_knowledge_is_not_superseded_by_another_matter():
    others = [row for row in found() if row[0] == "other"]
    wrong = [row for row in others if row[1] in {"changed", "negated", "same"}]
    assert len(others) >= 110
    assert len(wrong) <= 0.02 * len(others), wrong


def test_most_true_changes_are_found():
    true = [row for row in found() if row[0] in {"changed", "negated"}]
    missed = [row for row in true if row[1] != row[0]]
    assert len(true) >= 100
    assert len(missed) <= 0.2 * len(true), missed
    assert not [row for row in missed if row[1] in {"same", "refined"}]


def test_what_says_the_same_or_more_is_told_from_a_change():
    kept = [row for row in found() if row[0] in {"same", "refined"}]
    assert not [row for row in kept if row[1] in {"changed", "negated"}]
    missed = [row for row in kept if row[1] != row[0]]
    assert len(missed) <= 0.2 * len(kept), missed


def test_only_one_topic_can_hold_a_change():
    old = Statement("CI runs on Python 3.11", "", "continuous integration")
    new = Statement("CI runs on Python 3.12", "", "toolchain")
    assert relation(new, old) is Relation.OTHER
    assert relation(Statement("CI runs on Python 3.11", "", "toolchain"), old) is Relation.SAME


def test_the_spelling_of_a_topic_does_not_matter():
    old = Statement("CI runs on Python 3.11", "", "Continuous Integration")
    assert (
        relation(Statement("CI runs on Python 3.12", "", "continuous integration"), old) is Relation.CHANGED
    )


def test_what_happened_is_not_undone_by_what_happens_later():
    old = Statement("", "The load test reached 900 requests", "load tests", "episodic")
    new = Statement("", "The load test reached 700 requests", "load tests", "episodic")
    assert relation(new, old) is Relation.OTHER


def test_a_long_statement_is_not_lost_to_one_changed_sentence():
    body = "The API port is 8080. Requests are signed with HMAC. Clients retry three times. Errors are JSON objects."
    assert stands("The API port is 9090", body) is Relation.OTHER
    assert stands(body.replace("8080", "9090"), body) is Relation.CHANGED


def test_a_row_added_to_a_list_refines_it():
    rows = "- port of web: 8080\n- port of api: 9090"
    assert stands(rows + "\n- port of admin: 7070", rows) is Relation.REFINED


def test_the_heading_counts_once():
    old = Statement("CI runs on Python 3.11", "CI runs on Python 3.11, as 3.10 is too old for us.", "ci")
    assert relation(old, old) is Relation.SAME
    assert (
        relation(Statement("CI runs on Python 3.12", "CI runs on Python 3.12.", "ci"), old)
        is not Relation.SAME
    )


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_texts_are_compared(new, old):
    assert stands(new, old) in Relation
    assert stands(new, new) in {Relation.SAME, Relation.OTHER}


SAID = st.sampled_from([row[1] for row in ROWS])


@given(SAID, SAID)
def test_two_statements_never_change_each_other_in_one_direction_into_the_same(new, old):
    one, other = stands(new, old), stands(old, new)
    assert (one is Relation.NEGATED) <= (other in {Relation.NEGATED, Relation.OTHER})
    assert not (one is Relation.CHANGED and other is Relation.SAME)


@pytest.mark.parametrize(
    "text",
    [
        "a " * 40_000,
        "1.1 " * 20_000,
        "中" * 60_000,
        "`" * 60_000,
        "is on " * 20_000,
        "not. " * 20_000,
        "가는" * 20_000,
    ],
)
def test_hostile_text_takes_linear_time(text):
    text = text[:19_990]  # the longest that is read
    begin = time.process_time()
    stands(text, text[:-3] + "x")
    stands(text + "1", text + "2")
    assert time.process_time() - begin < 3
