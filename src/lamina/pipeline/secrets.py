"""The shapes of secrets that can be told by themselves: vendors' tokens, keys, web tokens.

One row a shape: kind, the words that trigger it, regular expression, and whether the match must also
look random because the prefix alone occurs in ordinary words. Every quantifier is bounded or starts behind a
boundary, so that no text takes more than linear time.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

# A token starts behind anything but an ASCII letter or digit, or behind an escape: %3D, \n, \u003d.
EDGE = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4}))"

_AN, _ID, _HEX = "[A-Za-z0-9]", "[A-Za-z0-9_-]", "[0-9a-fA-F]"
_DOT = r"(?:\.|%2[Ee])"
_UUID = rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"


class Shape(NamedTuple):
    """One shape, tried where one of its `prefixes` stands or, without those, in words with a trigger."""

    kind: str
    prefixes: tuple[str, ...]
    pattern: str
    random: bool = False
    glued: bool = False  # the prefix occurs nowhere else: it counts also behind other letters
    triggers: tuple[str, ...] = ()
    least: int = 16

    @property
    def expression(self) -> re.Pattern[str]:
        """The compiled expression."""
        return _compiled(self.pattern)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _glued(kind: str, prefixes: str, pattern: str) -> Shape:
    return Shape(kind, tuple(prefixes.split()), pattern, glued=True)


def _free(kind: str, prefixes: str, pattern: str) -> Shape:
    return Shape(kind, tuple(prefixes.split()), pattern)


def _random(kind: str, prefixes: str, pattern: str) -> Shape:
    return Shape(kind, tuple(prefixes.split()), pattern, random=True)


def _inside(kind: str, triggers: str, least: int, pattern: str, *, random: bool = False) -> Shape:
    return Shape(kind, (), f"{EDGE}(?:{pattern})", random, triggers=tuple(triggers.split()), least=least)


def _prefixed(kind: str, least: int, prefixes: str) -> Shape:
    either = "|".join(map(re.escape, prefixes.split()))
    return _random(kind, prefixes, f"(?:{either}){_ID}{{{least},400}}")


SHAPES: tuple[Shape, ...] = (
    _glued("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"gh[pousr]_{_AN}{{16,255}}"),
    _glued("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{16,255}"),
    _glued("gitlab-token", "glpat-", rf"glpat-[A-Za-z0-9_.-]{{15,300}}{_AN}"),
    _glued("slack-token", "xox", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,300}"),
    _glued("anthropic-key", "sk-ant-", rf"sk-ant-{_ID}{{12,300}}"),
    _glued(
        "openai-key",
        "sk-proj- sk-svcacct- sk-admin- sk-None-",
        rf"sk-(?:proj|svcacct|admin|None)-{_ID}{{16,300}}",
    ),
    _glued("google-key", "AIza", rf"AIza{_ID}{{30,60}}"),
    _glued("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"do[por]_v1_{_HEX}{{32,80}}"),
    _glued("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{20,2000}"),
    _glued("pypi-token", "pypi-AgE", rf"pypi-AgE{_ID}{{30,400}}"),
    _glued(
        "slack-webhook",
        "hooks.slack",
        r"hooks\.slack(?:-gov)?\.com(?:/|%2F)(?:services|workflows|triggers)(?:/|%2F)[A-Za-z0-9/%_+-]{10,200}",
    ),
    _glued(
        "discord-webhook",
        "discord.com/api/ discordapp.com/api/",
        rf"discord(?:app)?\.com/api(?:/v\d{{1,2}})?/webhooks/\d{{5,25}}/{_ID}{{20,100}}",
    ),
    _glued(
        "teams-webhook",
        "webhook.office.com/webhookb2/",
        r"webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{30,300}",
    ),
    _glued(
        "stripe-key",
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_",
        rf"[sr]k_(?:live|test|prod)_{_AN}{{10,250}}",
    ),
    _glued("google-secret", "GOCSPX-", rf"GOCSPX-{_ID}{{20,60}}"),
    _inside("azure-devops-token", "AZDO", 68, rf"{_AN}{{60,90}}AZDO{_AN}{{4}}(?!{_AN})"),
    _inside("azure-key", "JQQJ9", 46, rf"{_AN}{{30,60}}JQQJ9[9D]{_AN}{{10,40}}"),
    _inside("telegram-token", ":AA %3AAA %3aAA", 41, rf"\d{{8,11}}(?::|%3[Aa])AA{_ID}{{30,40}}"),
    _free("jwt", "eyJ", rf"eyJ{_ID}{{6,2000}}+{_DOT}{_ID}{{6,16000}}+(?:{_DOT}{_ID}{{0,4000}}+){{0,3}}"),
    _random("openai-key", "sk-", rf"sk-{_ID}{{16,300}}"),
    _free(
        "aws-key",
        "AKIA ASIA ABIA ACCA AGPA AIDA AIPA ANPA ANVA AROA APKA ASCA",
        r"A[A-Z]{3}[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    _free("aws-key", "ABSK bedrock-api-key-", r"(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/=]{60,2000}"),
    _random(
        "gitlab-token",
        "gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- glffct- glwt-",
        rf"gl[a-z]{{2,5}}-[A-Za-z0-9_.-]{{15,300}}{_AN}",
    ),
    _random("gitlab-token", "GR1348941", rf"GR1348941{_ID}{{16,60}}"),
    _random("npm-token", "npm_ NpmToken.", rf"npm_{_AN}{{30,80}}|NpmToken\.{_UUID}"),
    _free("slack-token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{20,300}"),
    _free(
        "google-token",
        "ya29. 1//0 AQ.Ab",
        rf"ya29\.{_ID}{{20,2000}}|1//0{_ID}{{30,200}}|AQ\.Ab{_ID}{{20,200}}",
    ),
    _inside("azure-secret", "Q~", 36, r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{30,36}"),
    _random("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,120}"),
    _free("twilio-key", "SK AC", r"(?:SK|AC)[0-9a-f]{32}(?![0-9A-Za-z])"),
    _free("sendgrid-key", "SG. SG%2", rf"SG{_DOT}{_ID}{{16,60}}{_DOT}{_ID}{{16,80}}"),
    _random("huggingface-token", "hf_ api_org_", rf"(?:hf|api_org)_{_AN}{{25,80}}"),
    _inside(
        "discord-token", ". %2E", 58, rf"[MNO]{_ID}{{22,27}}{_DOT}{_ID}{{6}}{_DOT}{_ID}{{27,45}}", random=True
    ),
    _random("discord-token", "mfa.", rf"mfa\.{_ID}{{60,100}}"),
    _free("mailgun-key", "key-", r"key-[0-9a-f]{32}"),
    _inside("mailgun-key", "-", 50, r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-z-])"),
    _inside("mailchimp-key", "-us", 36, r"[0-9a-f]{32}-us\d{1,2}(?!\d)"),
    _free(
        "shopify-token", "shpat_ shpca_ shppa_ shpss_ shput_ shpka_ shpua_", rf"shp[a-z]{{2}}_{_HEX}{{20,80}}"
    ),
    _free("databricks-token", "dapi dkea dose", r"(?:dapi|dkea|dose)[0-9a-f]{32}(?:-\d)?"),
    _random("vault-token", "hvs. hvb. hvr.", rf"hv[sbr]\.{_ID}{{20,300}}"),
    _random("vault-token", "s. b. r.", r"[sbr]\.[A-Za-z0-9]{24}(?![A-Za-z0-9_(.])"),
    _inside("terraform-token", ".atlasv1.", 63, rf"{_AN}{{14}}\.atlasv1\.{_ID}{{40,100}}"),
    _free("supabase-key", "sbp_ sb_secret_", rf"sbp_{_HEX}{{30,80}}|sb_secret_{_ID}{{20,100}}"),
    _free("linear-key", "lin_api_ lin_oauth_", rf"lin_(?:api|oauth)_{_AN}{{20,80}}"),
    _random("notion-token", "secret_ ntn_", rf"(?:secret|ntn)_{_AN}{{40,60}}"),
    _random(
        "figma-token", "figd_ figo_ figu_ figp_ figor_ figur_ figdr_", rf"fig[doupr]{{1,2}}_{_ID}{{30,100}}"
    ),
    _free("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _free("newrelic-key", "NRAK- NRRA- NRJS- NRII- NRSP-", rf"NR[A-Z]{{2}}-{_ID}{{18,60}}"),
    _free("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_-]{30,600}"),
    _random("grafana-token", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{30,500}"),
    _free("pulumi-token", "pul-", r"pul-[0-9a-f]{40}"),
    _free(
        "doppler-token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        rf"dp\.[a-z]{{2,5}}\.(?:{_ID}{{1,40}}\.)?{_AN}{{36,60}}",
    ),
    _free("docker-token", "dckr_", rf"dckr_[op]at_{_ID}{{20,80}}"),
    _free("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{40,60}"),
    _random("crates-token", "cio", rf"cio{_AN}{{32}}(?!{_AN})"),
    _free("heroku-key", "HRKU-", rf"HRKU-{_ID}{{30,100}}"),
    _random("square-token", "sq0 EAAA", rf"sq0[a-z]{{3}}-{_ID}{{20,60}}|EAAA{_ID}{{56,100}}"),
    _random("facebook-token", "EAA", rf"EAA[A-Z]{_AN}{{60,400}}"),
    _random("twitter-token", "AAAAAAAAAAAAAAAAAA", r"A{18,24}[A-Za-z0-9%]{40,120}"),
    _inside("asana-token", "/", 44, r"\d/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}"),
    _random("atlassian-token", "ATATT3 ATCTT3 ATBB", r"AT(?:ATT3|CTT3|BB)[A-Za-z0-9_=+/-]{24,400}"),
    _free("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _free("planetscale-token", "pscale_", r"pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.=-]{20,100}"),
    _free("tailscale-key", "tskey-", rf"tskey-[a-z]{{2,10}}-{_ID}{{16,100}}"),
    _random("fly-token", "fm1 fm2 fo1_", r"fm[12][ar]?_[A-Za-z0-9+/=_-]{40,2000}|fo1_[A-Za-z0-9_-]{30,80}"),
    _random("cloud-key", "LTAI AKID", r"(?:LTAI[A-Za-z0-9]{12,24}|AKID[A-Za-z0-9]{28,40})(?![A-Za-z0-9])"),
    _free(
        "password-hash",
        "$2a$ $2b$ $2x$ $2y$ $argon2 $5$ $6$ $y$ $scrypt$ $pbkdf2",
        r"\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{50,60}|(?:argon2(?:id|i|d)|5|6|y|scrypt|pbkdf2-sha\d{1,3})\$[^\s\"'<>]{20,300})",
    ),
    _free(
        "url-signature",
        "sig= Signature= X-Amz-Signature= X-Amz-Security-Token= X-Goog-Signature=",
        r"(?:sig|X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature|Signature)=[A-Za-z0-9%/+=_~-]{24,4000}",
    ),
    _prefixed(
        "model-key",
        24,
        "gsk_ xai- pplx- r8_ tgp_v1_ pcsk_ nvapi- csk- tvly- fc- rpa_ jina_ e2b_ esecret_ "
        "crsr_ key_ fw_ lsv2_pt_ lsv2_sk_ wandb_v1_ sk_",
    ),
    _prefixed(
        "service-token",
        18,
        "nfp_ nfc_ nfo_ nfb_ nfu_ rnd_ vck_ vcp_ vca_ vci_ vcr_ vct_ napi_ phx_ sgp_ bkua_ "
        "sqp_ squ_ sqa_ CCIPAT_ aio_ tfp_ pnu_ rdme_ CFPAT- CLOJARS_ duffel_test_ duffel_live_ "
        "EZAK EZTK FLWSECK- FLWSECK_TEST- fio-u- tk-us- shippo_live_ shippo_test_ cfat_ cfut_ "
        "cf_pat_ oy2 AKCp xkeysib- ops_eyJ y0_ t1.9eu AQVN access-sandbox- access-production- "
        "access-development- access_token$ ATAT sdk- rzp_live_ rzp_test_ lip_ nvd_ tr_dev_ "
        "tr_prod_ re_ dt0c01. dt0s01. dt0s16.",
    ),
)


def is_sample(value: str) -> bool:
    """Say whether a value is a vendor's documented example, or was replaced already."""
    return "EXAMPLE" in value or "[redacted" in value


def looks_random(value: str) -> bool:
    """Say whether some piece of a value mixes letters and digits, or changes case, as words don't."""
    for piece in re.split(r"[^A-Za-z0-9]+", value):
        if len(piece) >= 30:
            return True
        digits = sum(char.isdigit() for char in piece)
        if len(piece) >= 10 and 2 <= digits < len(piece) and not _WORDY.fullmatch(piece):
            return True
        if len(piece) >= 20 and len(_TURNS.findall(piece)) >= 6:
            return True
    return False


_WORDY = re.compile(r"[A-Za-z]+\d{1,4}|\d{1,4}[A-Za-z]+|(?:[A-Z]?[a-z]{3,}\d?)+")
_TURNS = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
