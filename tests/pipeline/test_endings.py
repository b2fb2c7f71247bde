"""What ends an entry: something must be said against it, not only about it."""

from __future__ import annotations

from datetime import date

import pytest

from lamina.pipeline.consolidation.endings import ends

DAY = date(2026, 9, 1)


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("Always run `make check` before you push.", "Remember: always run `make check` before you push."),
        ("Always run `make check` before you push.", "That rule about `make check` holds for this session."),
        ("Kommentare im Code immer auf Deutsch.", "Noch einmal: Kommentare im Code immer auf Deutsch."),
        ("提交说明都用中文写。", "再说一遍，提交说明都用中文写。"),
        ("The port of web is 8080.", "The port of api is 9090."),
        ("Use Redis for the queue.", "The orchard's trees were removed."),
    ],
)
def test_whoever_says_it_again_or_speaks_of_another_thing_ends_nothing(old: str, said: str) -> None:
    assert not ends([said], old, day=DAY)


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("The harvest lists go to IndexedDB.", "The harvest lists no longer go to IndexedDB."),
        ("Staging runs in eu-west-3.", "Staging has moved, it runs in eu-central-1 now."),
        ("The server listens on port 3000.", "The server listens on port 8080."),
        ("The order queue runs on Redis.", "Use Postgres for the order queue."),
        ("Die Sicherung startet um 02:30 Uhr.", "Die Sicherung läuft nicht mehr um 02:30 Uhr."),
        ("本番サーバーはUbuntu 22.04で動いている。", "Ubuntu 22.04ではなく、Ubuntu 24.04になった。"),
        ("测试环境的端口是 8088。", "测试环境的端口不再是 8088，改成 8190。"),
        ("스테이징 서버는 포트 6060을 사용한다.", "더 이상 포트 6060을 쓰지 않고 포트 6161을 사용해."),
    ],
)
def test_what_denies_replaces_or_changes_it_ends_it(old: str, said: str) -> None:
    assert ends(["Thanks.", said], old, day=DAY)
