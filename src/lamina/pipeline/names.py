"""Says what kind of secret a name promises: `DB_PASSWORD`, `apiKey`, `access token`, `密码`."""

from __future__ import annotations

import re
from functools import cache

# What can begin or be part of a secret's name, lower-cased. Cheap to look for in any text.
STEMS = (
    "pass", "pwd", "secret", "token", "key", "cred", "auth", "mnemonic", "senha", "wort", "parol", "hasl",
    "clave", "seed",
)  # fmt: skip
FOREIGN_STEMS = (
    "contraseña", "hasło", "пароль", "ключ", "токен", "секрет", "密码", "密碼", "口令", "密钥", "密鑰",
    "秘钥", "令牌", "パスワード", "トークン", "シークレット", "秘密鍵", "暗証", "비밀번호", "암호",
    "토큰", "şifre", "lösenord", "mật khẩu", "पासवर्ड", "كلمة المرور", "كلمة السر", "סיסמה",
    "รหัสผ่าน",
)  # fmt: skip


def words(text: str) -> frozenset[str]:
    """Make a set of the words of a text."""
    return frozenset(text.split())


_PASSWORDS = words(
    "password passwords passwd passwort kennwort losungswort pwd pass passphrase passcode passwrd pswd "
    "contraseña contrasena senha hasło haslo пароль密码 密码 密碼 口令 パスワード 暗証番号 비밀번호 "
    "암호 parola parole şifre wachtwoord lösenord losenord adgangskode salasana пароль पासवर्ड סיסמה "
    "รหัสผ่าน mnemonic pgpassword sshpass dbpass dbpassword rootpassword userpassword adminpassword"
)
_SECRETS = words(
    "secret secrets apikey secretkey privatekey accesskey authkey clientsecret appsecret credential "
    "credentials creds encryptionkey signingkey masterkey sharedkey accountkey sharedaccesskey "
    "apisecret секрет シークレット 秘密鍵"
)
_TOKENS = words(
    "token accesstoken authtoken refreshtoken apitoken bearertoken идтокен токен 令牌 トークン 토큰 tok"
)
_KEYS = words("key keys ключ 密钥 密鑰 秘钥 clave schlüssel")
_STRONG_KEYS = words(
    "api access secret private encryption encrypt signing sign master account auth ssh deploy license "
    "licence service shared app application consumer client admin root session jwt hmac aes crypto "
    "webhook storage subscription write server bot bearer oauth personal role anon"
)
_OPEN_KEYS = words(
    "public primary foreign cache sort partition row group map dict object hash lookup composite unique "
    "natural surrogate candidate idempotency dedupe i18n translation message shortcut hot arrow tab "
    "enter escape lock index join storage_item registry state query react routing sharding shard config "
    "option setting property field column attribute pub"
)
_ABOUT = words(
    "hash hashes hashed hashing field fields length len min max policy count counts type types url uri "
    "endpoint name names arn id ids path file files dir label hint placeholder prompt input rules rule "
    "regex expiry expires expiration expired ttl limit limits budget usage manager reset change changed "
    "at date algorithm alg version format prefix suffix header headers env var ref provider store "
    "rotation required enabled strategy size less error errors message strength validator validation "
    "valid invalid generator encoder service form page screen view test tests check checks auth grant "
    "flow"
)
_PART = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[^\WA-Z\d_]+|\d+|[A-Z]")
_WHOLE_KEYS = frozenset(["_auth", "auth", "identitytoken", "client-key-data"])


@cache
def kind_of(before: str, name: str) -> str:
    """Name the kind of secret that a name promises: password, secret, token, api-key, key, or none.

    `before` is the word in front of it, as in "api key".
    """
    parts = [part.lower() for part in _PART.findall(name)] or [name.lower()]
    whole = name.lower().strip("_-.")
    for index in range(len(parts) - 1, -1, -1):
        rest = parts[index + 1 :]
        if any(part in _ABOUT for part in rest) or len(rest) > 2:
            continue
        kind = _kind(parts[index], parts[index - 1] if index else before, whole)
        if kind and (not rest or kind in {"password", "secret"} or name.isupper()):
            return kind
    return _kind(whole, before, whole)


def _kind(part: str, before: str, whole: str) -> str:
    for kind, words in (("password", _PASSWORDS), ("secret", _SECRETS), ("token", _TOKENS)):
        if part in words:
            return kind
    if part in _KEYS and (found := _key(part, before, whole)):
        return found
    if whole in _WHOLE_KEYS:
        return "key"
    if (part == "phrase" and before in {"seed", "recovery", "pass"}) or whole == "passe":  # mot de passe
        return "password"
    return ""


def _key(part: str, before: str, whole: str) -> str:
    """Judge a key by the word in front of it."""
    if part == "clave" or not part.isascii():
        return "key"
    if before in _STRONG_KEYS:
        return "api-key" if before == "api" else "secret"
    return "key" if before and before not in _OPEN_KEYS and whole != part else ""
