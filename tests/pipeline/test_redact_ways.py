"""The ways in which people, shells and files hand over a secret, and code that only looks like one."""

from __future__ import annotations

import json

import pytest
from tests.pipeline.test_redact import rnd

from lamina.pipeline.redact import redact

SAID = "Zebra-" + "Quilt-88"

WAYS = [
    ("smtp://someone@mail.dev:{}@smtp.mail.dev:587", rnd(14)),
    (".shop.dev\tTRUE\t/\tTRUE\t0\tuser_session\t{}", rnd(32)),
    ("setx API_TOKEN {}", rnd(16)),
    ("set -gx API_TOKEN {}", rnd(16)),
    ("npm config set //registry.dev/:_authToken {}", rnd(24)),
    ('[{{"name": "DB_PASSWORD", "value": "{}"}}]', rnd(16)),
    ('{{"name":"DB_PASSWORD","value":"{}"}}', rnd(16)),
    ('{{\n  "name": "DB_PASSWORD",\n  "value": "{}"\n}}', rnd(16)),
    ('variable "db_password" {{\n  type = string\n  default = "{}"\n}}', rnd(16)),
    ("aws ssm put-parameter --name /db/password --type SecureString --value {}", rnd(16)),
    ("gh secret set DB_PASSWORD --body {}", rnd(16)),
    ("openssl enc -aes-256-cbc -k {} -in a", rnd(16)),
    ("echo {} | sudo -S systemctl restart shop", rnd(16)),
    ("htpasswd -bc .htpasswd bob {}", rnd(16)),
    ("The staging password changed to {} yesterday.", SAID),
    ("the password was reset to {}", SAID),
    ("password for bob: {}", SAID),
    ("log in as bob, pw {}", SAID),
    ("pw: {}", SAID),
    ("set the admin password to {}", SAID),
    ("the password should be {}", SAID),
    ("the password is now {}", SAID),
    ("Here's the password:\n\n```\n{}\n```", SAID),
    ("DB_PASSWORD=\\\n{}", rnd(16)),
    ("password: >-\n          {}", rnd(16)),
    ("password: |\n  {}", rnd(16)),
    ("password=&quot;{}&quot;", rnd(16)),
    ('<wsse:Password Type="PasswordText">{}</wsse:Password>', rnd(16)),
    ("requests.get(url, auth=('bob', '{}'))", rnd(16)),
    ("HTTPBasicAuth('bob', '{}')", rnd(16)),
    ('builder.WithPassword("{}")', rnd(16)),
    ('user.setPassword("{}");', rnd(16)),
    ("x \\u003cprivate>{}\\u003c/private> y", rnd(16)),
    ("GET /?q=%3Cprivate%3E{}%3C%2Fprivate%3E", rnd(16)),
    ("seed phrase: {}", "apple bread cloud dance eagle flame grape house image juice knife lemon"),
]


@pytest.mark.parametrize("frame,secret", WAYS, ids=[frame for frame, _ in WAYS])
def test_a_secret_goes_however_it_is_handed_over(frame, secret):
    clean = redact(frame.format(secret)).text
    assert secret not in clean, clean
    assert redact(clean).text == clean


def test_a_password_made_of_pieces_goes_whole():
    left, right = rnd(8), rnd(8)
    clean = redact(f'password = "{left}" + "{right}"').text
    assert left not in clean, clean
    assert right not in clean, clean


def test_a_numbered_key_without_its_end_goes_whole():
    lines = [rnd(64) for _ in range(4)]
    shown = "     1→-----BEGIN " + "PRIVATE KEY-----\n"
    shown += "\n".join(f"     {n}→{line}" for n, line in enumerate(lines, 2))
    clean = redact(shown).text
    assert not any(line in clean for line in lines), clean


@pytest.mark.parametrize(
    "text",
    [
        '{"pl": l1, "pw": [n2]}',
        "new_row[x + xpos - pw] = char2",
        "pw = [1]*N",
        "#define GPCT_SINGLE_PW 0x0100",
        "PKCS8_PRIV_KEY_INFO *EVP_PKEY2PKCS8(const EVP_PKEY *pkey);",
        "def set_password(self):\n        raise NotImplementedError2",
        "if bypass:\n        self.run_step2()",
        "pass to the parser 2: it reads `a1`",
        "set the password to at least 12 characters",
        "change the password to a stronger one",
        "reset the password to its default",
        "update the password field to v2.1",
        "the password should be hashed with argon2id",
        "The password must be 12+ characters",
        "getPassword('user1')",
        'user.setPassword("password")',
        "findByToken(token1)",
        "<label for=password class=x>Password</label>",
        "mnemonic: the first letters of the words",
        "echo hello | sudo tee /etc/motd",
        "openssl enc -d -in a -out b",
        "export API_TOKEN in your shell",
        "see API_TOKEN in 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "the pw of the lamp is 60 W",
        '[{"name": "replicas", "value": "3"}]',
        'variable "password_length" {\n  default = 12\n}',
        "password for the form: required",
        "true, false, / and other words",
    ],
)
def test_code_and_prose_about_passwords_stay(text):
    assert redact(text).text == text
    assert json.loads(redact(json.dumps(text)).text) == text
