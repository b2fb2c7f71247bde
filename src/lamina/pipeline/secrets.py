"""The shapes of secrets that can be told by themselves: vendors' tokens, keys, web tokens.

One row a shape: kind, regular expression, and whether the match must also look random because
the prefix alone occurs in ordinary words. Every quantifier is bounded or starts behind a
boundary, so that no text takes more than linear time.
"""

from __future__ import annotations

import re
from functools import cache

# A token starts behind anything but an ASCII letter or digit, or behind an escape: %3D, \n, \u003d.
EDGE = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4}))"

_AN, _ID, _HEX = "[A-Za-z0-9]", "[A-Za-z0-9_-]", "[0-9a-fA-F]"
_DOT = r"(?:\.|%2[Ee])"
_UUID = rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"

# Prefixes that occur nowhere else: found also when they are glued to other letters.
STRONG: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("github-token", rf"gh[pousr]_{_AN}{{16,255}}", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    ("github-token", r"github_pat_[A-Za-z0-9_]{16,255}", ("github_pat_",)),
    ("gitlab-token", rf"glpat-[A-Za-z0-9_.-]{{15,300}}{_AN}", ("glpat-",)),
    ("slack-token", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,300}", ("xox",)),
    ("anthropic-key", rf"sk-ant-{_ID}{{12,300}}", ("sk-ant-",)),
    ("openai-key", rf"sk-(?:proj|svcacct|admin|None)-{_ID}{{16,300}}", ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-")),
    ("google-key", rf"AIza{_ID}{{30,60}}", ("AIza",)),
    ("digitalocean-token", rf"do[por]_v1_{_HEX}{{32,80}}", ("_v1_",)),
    ("age-key", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{20,2000}", ("AGE-SECRET-KEY-",)),
    ("pypi-token", rf"pypi-AgE{_ID}{{30,400}}", ("pypi-AgE",)),
    ("slack-webhook", r"hooks\.slack(?:-gov)?\.com(?:/|%2F)(?:services|workflows|triggers)(?:/|%2F)[A-Za-z0-9/%_+-]{10,200}", ("hooks.slack",)),
    ("discord-webhook", rf"discord(?:app)?\.com/api(?:/v\d+)?/webhooks/\d{{5,25}}/{_ID}{{20,100}}", ("/webhooks/",)),
    ("teams-webhook", r"webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{30,300}", ("/webhookb2/",)),
    ("stripe-key", rf"(?:sk|rk)_(?:live|test|prod)_{_AN}{{10,250}}", ("_live_", "_test_", "_prod_")),
    ("google-secret", rf"GOCSPX-{_ID}{{20,60}}", ("GOCSPX-",)),
    ("azure-devops-token", rf"(?<!{_AN}){_AN}{{60,90}}AZDO{_AN}{{4}}(?!{_AN})", ("AZDO",)),
    ("azure-key", rf"(?<!{_AN}){_AN}{{30,60}}JQQJ9[9D]{_AN}{{10,40}}", ("JQQJ9",)),
    ("telegram-token", rf"(?<!\d)\d{{8,11}}(?::|%3[Aa])AA{_ID}{{30,40}}", (":AA", "%3AAA", "%3aAA")),
)  # fmt: skip

_RANDOM = True
_SHAPES: tuple[tuple[str, str, bool], ...] = (
    ("jwt", rf"eyJ{_ID}{{6,4000}}{_DOT}{_ID}{{6,16000}}(?:{_DOT}{_ID}{{0,4000}}){{0,3}}", False),
    ("openai-key", rf"sk-{_ID}{{16,300}}", _RANDOM),
    ("aws-key", r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|ANVA|AROA|APKA|ASCA)[A-Z0-9]{16}(?![A-Za-z0-9])", False),
    ("aws-key", r"(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/=]{60,2000}", False),
    ("gitlab-token", rf"gl(?:dt|rt|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-[A-Za-z0-9_.-]{{15,300}}{_AN}|GR1348941{_ID}{{16,60}}", _RANDOM),
    ("npm-token", rf"npm_{_AN}{{30,80}}|NpmToken\.{_UUID}", _RANDOM),
    ("slack-token", r"xapp-\d-[A-Za-z0-9-]{20,300}", False),
    ("google-token", rf"ya29\.{_ID}{{20,2000}}|1//0{_ID}{{30,200}}|AQ\.Ab{_ID}{{20,200}}", False),
    ("azure-secret", r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{30,36}", False),
    ("stripe-webhook-secret", r"whsec_[A-Za-z0-9+/=]{20,120}", _RANDOM),
    ("twilio-key", r"(?:SK|AC)[0-9a-f]{32}(?![0-9A-Za-z])", False),
    ("sendgrid-key", rf"SG{_DOT}{_ID}{{16,60}}{_DOT}{_ID}{{16,80}}", False),
    ("huggingface-token", rf"(?:hf|api_org)_{_AN}{{25,80}}", _RANDOM),
    ("discord-token", rf"[MNO]{_ID}{{22,27}}\.{_ID}{{6}}\.{_ID}{{27,45}}|mfa\.{_ID}{{60,100}}", _RANDOM),
    ("mailgun-key", r"key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-z-])", False),
    ("mailchimp-key", r"[0-9a-f]{32}-us\d{1,2}(?!\d)", False),
    ("shopify-token", rf"shp(?:at|ca|pa|ss|ut|ka|ua)_{_HEX}{{20,80}}", False),
    ("databricks-token", r"(?:dapi|dkea|dose)[0-9a-f]{32}(?:-\d)?", False),
    ("vault-token", rf"hv[sbr]\.{_ID}{{20,300}}|[sbr]\.[A-Za-z0-9]{{24}}(?![A-Za-z0-9_(.])", _RANDOM),
    ("terraform-token", rf"{_AN}{{14}}\.atlasv1\.{_ID}{{40,100}}", False),
    ("supabase-key", rf"sbp_{_HEX}{{30,80}}|sb_secret_{_ID}{{20,100}}", False),
    ("linear-key", rf"lin_(?:api|oauth)_{_AN}{{20,80}}", False),
    ("notion-token", rf"(?:secret|ntn)_{_AN}{{40,60}}", _RANDOM),
    ("figma-token", rf"fig[doupr]{{1,2}}_{_ID}{{30,100}}", _RANDOM),
    ("postman-key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", False),
    ("newrelic-key", rf"NR(?:AK|RA|JS|II|SP)-{_ID}{{18,60}}", False),
    ("sentry-token", rf"sntry[su]_[A-Za-z0-9+/=_-]{{30,600}}", False),
    ("grafana-token", rf"gl(?:sa|c)_[A-Za-z0-9+/=_]{{30,500}}", _RANDOM),
    ("pulumi-token", r"pul-[0-9a-f]{40}", False),
    ("doppler-token", rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:{_ID}{{1,40}}\.)?{_AN}{{36,60}}", False),
    ("docker-token", rf"dckr_[op]at_{_ID}{{20,80}}", False),
    ("rubygems-key", r"rubygems_[0-9a-f]{40,60}", False),
    ("crates-token", rf"cio{_AN}{{32}}(?!{_AN})", _RANDOM),
    ("heroku-key", rf"HRKU-{_ID}{{30,100}}", False),
    ("square-token", rf"sq0[a-z]{{3}}-{_ID}{{20,60}}|EAAA{_ID}{{56,100}}", _RANDOM),
    ("facebook-token", rf"EAA[A-Z]{_AN}{{60,400}}", _RANDOM),
    ("twitter-token", r"A{18,24}[A-Za-z0-9%]{40,120}", _RANDOM),
    ("asana-token", r"\d/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}", False),
    ("atlassian-token", r"AT(?:ATT3|CTT3|BB)[A-Za-z0-9_=+/-]{24,400}", _RANDOM),
    ("airtable-token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", False),
    ("planetscale-token", r"pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.=-]{20,100}", False),
    ("tailscale-key", rf"tskey-[a-z]{{2,10}}-{_ID}{{16,100}}", False),
    ("fly-token", r"fm[12][ar]?_[A-Za-z0-9+/=_-]{40,2000}|fo1_[A-Za-z0-9_-]{30,80}", _RANDOM),
    ("cloud-key", r"LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])|AKID[A-Za-z0-9]{28,40}(?![A-Za-z0-9])", _RANDOM),
    ("model-key", rf"(?:gsk_|xai-|pplx-|r8_|tgp_v1_|pcsk_|nvapi-|csk-|tvly-|fc-|rpa_|jina_|e2b_|esecret_|crsr_|key_|fw_|lsv2_[ps][kt]_|wandb_v1_|sk_){_ID}{{24,300}}", _RANDOM),
    ("service-token", rf"(?:nfp_|nf[cobu]_|rnd_|vc[kpairt]_|napi_|phx_|sgp_|bkua_|sq[pua]_|CCIPAT_|aio_|tfp_|pnu_|rdme_|CFPAT-|CLOJARS_|duffel_(?:test|live)_|EZ[AT]K|FLWSECK(?:_TEST)?-|fio-u-|tk-us-|shippo_(?:live|test)_|dt0[a-z]\d\d\.|cfat_|cfut_|cf_pat_|oy2|AKCp|xkeysib-|ops_eyJ|y0_|t1\.9eu|AQVN|access-(?:sandbox|production|development)-|access_token\$|ATAT|sdk-|rzp_(?:live|test)_|lip_|nvd_|tr_(?:dev|prod)_|re_{_AN}{{6,10}}_){_ID}{{18,400}}", _RANDOM),
    ("password-hash", r"\$2[abxy]\$\d\d\$[./A-Za-z0-9]{50,60}|\$argon2(?:id|i|d)\$[^\s\"'<>]{20,300}|\$(?:5|6|y|scrypt|pbkdf2-sha\d+)\$[^\s\"'<>]{20,300}", False),
    ("url-signature", r"(?:sig|X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature|Signature)=[A-Za-z0-9%/+=_~-]{24,4000}", False),
)  # fmt: skip


@cache
def shapes() -> tuple[re.Pattern[str], tuple[tuple[str, bool], ...]]:
    """Give the one alternation of all shapes, and kind and need of randomness by group number."""
    body = "|".join(f"({shape})" for _, shape, _ in _SHAPES)
    return re.compile(f"{EDGE}(?:{body})"), tuple((kind, random) for kind, _, random in _SHAPES)


@cache
def strong() -> tuple[tuple[str, re.Pattern[str], tuple[str, ...]], ...]:
    """Give the shapes with a telling prefix: kind, expression, the literals that trigger it."""
    return tuple((kind, re.compile(shape), triggers) for kind, shape, triggers in STRONG)


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
