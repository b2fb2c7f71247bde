"""Reads a sentence as what may contradict another: its subject, the place of its value, its negations.

Light verbs of use and being with their prepositions become one mark, since `runs on`, `uses` and `is`
put a value in the same place. What follows from the mark is written down per script: in Japanese and
Korean a particle behind a word says whether it is the subject.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from lamina.pipeline import cues

VALUE, NAME, WORD, MARK, OF, TAIL, NOT = "value", "name", "word", "mark", "of", "tail", "not"
"""Kinds of tokens: an exact value, a name, a word; where a value follows; what narrows a subject; what opens
an addition; a negation."""

_STEM = 7


class Token(NamedTuple):
    """One word; `text` is folded and stemmed."""

    text: str
    kind: str
    behind: str = ""  # a particle behind the word: `topic` or `object`


class Clause(NamedTuple):
    """A sentence without its reason.

    `lost` are the values that it says are given up; `event` tells what happened once; `role` names a part
    that only one thing plays, such as a default branch or a database.
    """

    tokens: tuple[Token, ...]
    denies: bool
    lost: frozenset[str]
    event: bool
    role: bool

    @property
    def content(self) -> frozenset[str]:
        """What it is about."""
        return frozenset(token.text for token in self.tokens if token.kind in {VALUE, NAME, WORD})


@lru_cache(maxsize=512)
def clause(sentence: str) -> Clause:
    """Read one sentence."""
    text = unicodedata.normalize("NFKC", sentence).replace("**", "").replace("\u2019", "'").strip("-*•# \t")
    text = _DATED.sub("", text)
    moved = _MOVED.search(text)
    given_up = chain([moved] if moved else [], cues.LOST.finditer(text), _INSTEAD_AFTER.finditer(text))
    gone = [part for match in given_up for part in match.groups() if part]
    lost = frozenset(
        token.text for part in gone for token in _read(part) if token.kind in {VALUE, NAME, WORD}
    )
    text = cues.LOST.sub(" ", _INSTEAD_AFTER.sub(" ", _MOVED.sub(" ≡ ", text)))
    text = _REASON.split(text, maxsplit=1)[0] or text
    tokens = tuple(_read(_affirmed(text)))
    denies = _DENIES.search(text) is not None or any(token.kind == NOT for token in tokens)
    return Clause(tokens, denies, lost, _EVENT.match(text) is not None, _ROLE.search(text) is not None)


def _affirmed(text: str) -> str:
    """Turn the denials of unspaced scripts into what they deny, and drop what only forbids or permits."""
    for denial, plain in _AFFIRMED:
        text = text.replace(denial, plain)
    return _PERMITS.sub(" ", text)


def _read(text: str) -> Iterator[Token]:
    text = _MARKS_WIDE.sub(_mark, _MARKS.sub(_mark, text))
    for at, match in enumerate(_TOKEN.finditer(text)):
        yield from _token(match[0], start=at == 0)


def _mark(match: re.Match[str]) -> str:
    """Tell what is used, of which there may be many, from where something is or what it is."""
    return " → " if _USES.search(match[0]) else " ≡ "


def _token(raw: str, *, start: bool) -> Iterator[Token]:
    if raw in "→≡":
        yield Token(raw, MARK)
    elif raw in _WEEKDAYS:
        yield Token(f"weekday {_WEEKDAYS[raw]}", WORD)
    elif raw[0] == "`":
        yield Token(raw.strip("` ").casefold(), VALUE)
    elif raw[0].isascii():
        yield from _plain(raw.rstrip(".,:;!?'-/") or raw, start=start)
    elif "\uac00" <= raw[0] <= "\ud7a3":
        yield from _korean(raw)
    elif "\u3040" <= raw[0] <= "\u309f":
        yield from _kana(raw)
    elif "\u3400" <= raw[0] <= "\u9fff":
        if raw not in _EMPTY_HAN:
            yield Token(raw, NOT if raw in _NOT_HAN else WORD)
    elif "\u30a0" <= raw[0] <= "\u30ff":
        yield Token(raw, NAME)
    else:
        yield from _plain(raw, start=start)


def _plain(raw: str, *, start: bool) -> Iterator[Token]:
    folded = raw.casefold().removesuffix("'s")
    if folded in _DAYS:
        yield Token(f"weekday {_DAYS[folded]}", WORD)
    elif match := _NUMBER.fullmatch(folded):
        yield Token(match[1].replace(",", "").replace("_", ""), VALUE)
        if match[2]:
            yield Token(_UNITS.get(match[2], match[2]), WORD)
    elif folded in _NEGATIONS or folded.endswith("n't") or folded == "cannot":
        yield Token("¬", NOT)
    elif folded in _TAILS:
        yield Token(folded, TAIL)
    elif folded in _OF:
        yield Token("of", OF)
    elif folded in _SOFT:
        return
    elif any(char.isdigit() for char in raw) or re.search(r"[a-z][A-Z]|\w[_./@]\w|^--", raw):
        yield Token(folded, VALUE)
    elif raw[0].isupper() and (not start or (len(raw) > 1 and raw.isupper())):
        yield Token(_stem(folded), NAME)
    else:
        yield Token(_stem(_UNITS.get(folded, folded)), WORD)


def _stem(word: str) -> str:
    if len(word) > 4:
        word = re.sub(r"(?:ies|es|s|ed|ing|en|er|e|n|y)$", "", word) or word
    return word[:_STEM]


def _korean(raw: str) -> Iterator[Token]:
    if _NOT_HANGUL.search(raw):
        yield Token("¬", NOT)
        raw = _NOT_HANGUL.sub("", raw)
    match = _PARTICLE_KO.search(raw)
    raw = raw.removesuffix("합니다").removesuffix("한다") if not match else raw
    word = raw[: match.start()] if match else raw
    behind = ("topic" if match[1] else "object") if match else ""
    if word and word not in _SOFT:
        yield Token(word[:3] if len(word) > 3 else word, WORD, behind)
    elif behind:
        yield Token(behind, OF if behind == "topic" else MARK)


def _kana(raw: str) -> Iterator[Token]:
    if _NOT_KANA.search(raw):
        yield Token("¬", NOT)
        raw = _NOT_KANA.sub("", raw)
    if raw[:1] in {"は", "が", "の", "も"} or raw.startswith(("には", "では")):
        yield Token("topic", OF)
    elif raw[:1] in {"を", "で", "に", "へ", "と"}:
        yield Token("object", MARK)
    rest = re.sub(
        r"^[はがのもをでにへと]+|(?:しています|います|します|でした|です|ます|する|した|って|る|う|い|"
        r"た|だ)$",
        "",
        raw,
    )
    if len(rest) > 1 and rest not in _SOFT:
        yield Token(rest, WORD)


def words(text: str) -> frozenset[str]:
    """Split a list of words."""
    return frozenset(text.split())


_DATED = re.compile(r"^\s*\d{4}-\d{2}-\d{2}\s*[:：]?\s*")
_MOVED = re.compile(
    r"\b(?:(?:mov|switch|migrat|chang|upgrad|chang|bump|rais|lower|mov)(?:ed|e|es|s|ing)?|went|"
    r"go(?:es)?|rose)\b[^.;]{0,40}?"
    r"\bfrom ([^.;,]{1,40}?) to\b|\b(?:von|vom) ([^.;,]{1,40}?) (?:auf|zu|nach)\b|"
    r"从\s*([^。，；]{1,20}?)\s*(?:换成|换到|改为|改成|迁移到|升级到|切换到|改用|迁到|升到)",
    re.IGNORECASE,
)
_INSTEAD_AFTER = re.compile(
    r"\s*([A-Za-z][\w.+-]{0,30})\s*(?:ではなく|じゃなく|の代わりに|から(?=\s*[A-Za-z0-9])|말고|대신)",
    re.IGNORECASE,
)
_REASON = re.compile(
    r",?\s*\b(?:because|since (?!\d)|so that|due to|in order to|to avoid|weil|damit|denn|wegen)\b|"
    r"[，,]?\s*(?:因为|由于|为了|以便)|"
    r"(?:なので|ため(?=[、。に]|$)|ので)|때문",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"(?:(?:we|i|wir|today|yesterday|heute|gestern)\b[, ]*(?:have |has |haben )?)?(?:deployed|"
    r"released|fixed|merged|shipped|tagged|"
    r"published|failed|met|reviewed|tested|ran|measured|rolled out|opened|closed|wrote|added|removed|"
    r"created)\b|"
    r".{0,24}?\b(?:was|were|has been) (?:deployed|released|fixed|merged|shipped|tagged|published)\b|"
    r".{0,20}\b(?:wurde|haben?|hat)\b.{0,40}\b(?:deployt|veröffentlicht|gemergt|behoben|ausgerollt)\b|"
    r".{0,20}(?:部署了|发布了|修复了|合并了|上线了|完成了|修了)|.{0,40}(?:リリースした|修正した|"
    r"デプロイした|マージした|リリースしました|修正しました|デプロイしました)|"
    r".{0,40}(?:배포했|수정했|릴리스했|병합했)",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:never|no longer|not any ?more|must ?n[o']t|forbidden|prohibited|not allowed|avoid|"
    r"stop(?:ped)?(?= \w+ing)|disabled?|(?:turned|switched|is|stays) off|"
    r"abandoned|dropped|verboten|niemals|nie|nicht mehr|kein\w*|deaktiviert|abgeschaltet|vermeiden|"
    r"interdit|prohibido)\b|"
    r"禁止|不再|不得|不能|不要|别|禁用|停用|しない|してはいけない|禁止|やめ|無効|使わない|ません|"
    r"금지|않|안 (?=[가-힣])|하지 마|중단|비활성",
    re.IGNORECASE,
)
_MARKS = re.compile(
    r"(?<![\w-])(?:(?:is|are|was|will be|be|stays?|remains?)? ?(?:now )?(?:run(?:s|ning)?|us(?:es?|ed|"
    r"ing)|set|kept|keep|keeps|live[sd]?|stored|goes|go|listens?|"
    r"moved?|switched|hosted|written|built|stays?|based|upgraded|bumped|raised|lowered|pinned|served|"
    r"formatted|managed|"
    r"handled|default(?:s|ed)?|happens?|happen|starts?|expires?|written|limited|requires?|needs?|"
    r"takes?|prefers?|chose|has|have|"
    r"l(?:ä|ae)uft|laufen|nutzt|nutzen|verwendet|verwenden|liegt|liegen|setzen|gesetzt|lauscht|"
    r"bleib(?:t|en)|braucht|benötigt|startet|bevorzuge|geht|gehen)"
    r"(?: (?:now|jetzt|inzwischen))?(?: (?:on|to|in|with|at|by|via|from|under|auf|mit|in|über|bei|"
    r"nach|unter|after))?|"
    r"(?:is|are|was|ist|sind|war|beträgt|heißt|=|equals)(?: (?:now|jetzt|inzwischen|at|on|in|"
    r"by))?)(?![\w-])(?: (?:the|a|an|den|das|die|der)\b)?|(?<=\w)\s*[:=]\s+",
    re.IGNORECASE,
)
_MARKS_WIDE = re.compile(
    r"(?:现在|目前)?(?:使用的是|使用|采用|改用|换成|改成|改为|换到|迁到|迁移到|升级到|升到|运行在|"
    r"跑在|部署在|部署到|放在|存在|存放在|监听|设为|设置为|选用|默认用|"
    r"默认是|统一用|用的是|用|是|为|在)(?:了)?"
    r"|を(?:使います|使う|使っています|使用します|使用する|使用しています|採用する|採用します|"
    r"利用します)|に(?:なりました|変更しました|変更した|変更する|なった|します|する|"
    r"移行しました|移行した)|で(?:動きます|動く|動いています|実行します|実行する)"
    r"|(?:을|를) (?:사용합니다|사용한다|씁니다|쓴다|사용해요|쓰고 있다)|(?:으로|로) (?:변경했다|"
    r"변경했습니다|바꿨다|바꿨습니다|변경됐다|설정한다|설정합니다|"
    r"옮겼다)|에서 (?:실행된다|실행됩니다|돌아간다|실행한다)"
)
_TOKEN = re.compile(
    r"[→≡]|(?:周|星期|礼拜|週)[一二三四五六日天]|[月火水木金土日]曜日?|[월화수목금토일]요일|"
    r"`[^`\n]{1,80}`|--?[A-Za-z][\w-]*|"
    r"[A-Za-z0-9_](?:[A-Za-z0-9_./\\:@#%~+'-]*[A-Za-z0-9_+#%])?(?![\u00c0-\u036f])|[\u3400-\u9fff]|"
    r"[\u3041-\u309f]+|"
    r"[\u30a0-\u30ff]+|[\uac00-\ud7a3]+|[^\W\d_\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]+"
)
_NUMBER = re.compile(r"v?(\d+(?:[.,:_-]\d+)*)(%|[a-z]{1,7})?")
_UNITS = {
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "sekunden": "s",
    "minute": "min", "minutes": "min", "minuten": "min",
    "mins": "min", "hours": "h", "hour": "h", "hrs": "h", "stunden": "h",
    "days": "d", "day": "d", "tage": "d",
    "percent": "%", "prozent": "%",
}  # fmt: skip
_DAYS = {
    form: number
    for number, names in enumerate(
        ("monday montag lundi lunes", "tuesday dienstag mardi martes",
         "wednesday mittwoch mercredi miércoles",
         "thursday donnerstag jeudi jueves", "friday freitag vendredi viernes",
         "saturday samstag samedi sábado",
         "sunday sonntag dimanche domingo")
    )
    for name in names.split()
    for form in (name, f"{name}s")
}  # fmt: skip
_WEEKDAYS = {
    form: number
    for number, (han, ja, ko) in enumerate(
        zip("一二三四五六日", "月火水木金土日", "월화수목금토일", strict=True)
    )
    for form in (f"周{han}", f"星期{han}", f"礼拜{han}", f"週{han}", f"{ja}曜", f"{ja}曜日", f"{ko}요일")
} | {"周天": 6, "星期天": 6, "礼拜天": 6}
_USES = re.compile(
    r"\b(?:us|nutz|verwend|tak|has\b|have\b|need|requir|brauch|benötig|prefer|bevorzug)|(?<!改)用|使|利用|"
    r"採用|采用|사용|씁|쓴|쓰"
)
_AFFIRMED = (
    ("使わない", "使う"), ("使いません", "使います"), ("しません", "します"), ("しない", "する"),
    ("してはいけない", "する"),
    ("하지 않는다", "한다"), ("하지 않습니다", "합니다"), ("하지 않음", "함"),
    ("하지 마세요", "한다"), ("하면 안 된다", "한다"),
)  # fmt: skip
_PERMITS = re.compile(
    r"禁止|不再|不得|不能|不要|不可以|禁用|停用|启用|允许|可以|许可|許可(?:する|します|される)?|"
    r"してもよい|无需|필요 없|"
    r"금지(?:한다|합니다|됨)?|허용(?:한다|합니다|됨|된다)?|해도 된다"
)
_ROLE = re.compile(
    r"(?<![a-z])(?:default|branch|cache|database|queue|bundl|formatter|linter|package manager|manager|"
    r"store|storage|broker|region|"
    r"provider|theme|language|runtime|registry|engine|owner|license|editor|shell|base image|indent|"
    r"standard|datenbank|speicher|warteschlange)|"
    r"默认|分支|缓存|数据库|队列|管理器|打包|引擎|仓库|地区|区域|格式化|"
    r"デフォルト|ブランチ|キャッシュ|データベース|キュー|パッケージ管理|エンジン|リージョン|"
    r"기본|브랜치|캐시|데이터베이스|큐|패키지 매니저|엔진|리전",
    re.IGNORECASE,
)
_NEGATIONS = words(
    "not never no none nor neither without nobody nothing nicht kein keine keinen nie niemals ohne "
    "ne pas jamais sans nunca sin não nem sem non senza не ни никогда нельзя без لا لم لن ليس नहीं मत "
    "niet nooit geen inte aldrig ikke aldri"
)
_NOT_HAN = frozenset("不没未无別别禁非")
_NOT_HANGUL = re.compile(r"하지 ?않\S*|않\S*|지 ?마\S*|금지\S*|없\S*|^안$")
_NOT_KANA = re.compile(r"(?:し|わ|さ|れ|け)?(?:ない|なかった|ません|ずに)(?:でください|こと)?")
_PARTICLE_KO = re.compile(r"(?:(은|는|이|가|의)|(?:을|를|에서|에|으로|로|와|과|도|입니다|이다|다|이에요))$")
_EMPTY_HAN = frozenset("的了也就都着过吗吧呢个们上里我很已经这那")
_OF = words("of for von vom für pour de del para")
_TAILS = words(
    "when if unless except only while during until before after but and or plus on in at to with via "
    "per wenn falls außer nur "
    "während bis vor nach aber und oder auf bei mit zum zur am im"
)
_SOFT = words(
    """a an the we our us you i it its they their this that these those now currently
    today again still just also too
    already anymore longer please always should must will shall can could would let let's new newly from
    here there as than then
    well fine ok okay allowed permitted enabled possible any more do does did done be been being am
    wir ich der die das den dem des ein eine einen jetzt inzwischen mehr immer bitte soll sollen muss
    müssen darf dürfen
    wird werden wieder auch erlaubt aktiviert use uses used nutzen forbidden prohibited avoid stop
    disabled disable off on
    verboten deaktiviert 합니다 한다 된다 됩니다 이제 우리는 우리 현재 항상 지금 여전히 다시 허용 가능
    allow turned switched no-one
    everyone"""
)
