"""Tells a supposition from what is settled, so that no doubt becomes a fact on its way into memory.

The table is narrower than `cues.UNSURE`, which only has to choose a label: "checks whether the file
exists", "may be used" and "must be considered" suppose nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from lamina.pipeline import cues
from lamina.pipeline.exchanges import terms
from lamina.pipeline.statements import sentences

HEDGES = (
    (
        r"probably|maybe|perhaps|possibly|presumably|supposedly|apparently|conceivably|"
        r"(?:might|could) (?:\w+ )?(?:be|have|need|use|help|work|cause|want|come|also|well|not|move|"
        r"switch|drop|fix|solve)|"
        r"(?:i|we) might|might (?:\w+)|may (?:well|not be|be (?:the|a|an|due|caused|related|better|"
        r"worth|wrong)|have been|help)|"
        r"i (?:guess|think|suspect|assume|suppose|wonder|believe|reckon)|we (?:think|suspect|assume|"
        r"guess|suppose|believe)|my guess|"
        r"not (?:\w+ )?(?:sure|certain|clear|confirmed|verified|convinced)|(?:isn't|aren't) (?:clear|"
        r"sure|certain|confirmed)|unsure|unclear|uncertain|"
        r"unconfirmed|unverified|seems? (?:to|like|that)|it (?:seems|appears|looks like)|appears to|"
        r"looks like (?:it|the|a|we)|(?<!un)likely|"
        r"(?:to )?(?:evaluate|investigate|explore|check|find out|figure out|see|decide|verify|test|"
        r"discuss|determine|examine|think about) "
        r"(?:\w+ ){0,2}(?:whether|if)(?! the (?:file|user|request))|"
        r"(?<!we )(?<!i )(?:consider(?:ing)?|thinking (?:about|of)|toying with) \w+ing|(?:we|"
        r"i) (?:could|should) (?:try|consider|evaluate|look into)|"
        r"(?:we|i|you) could|consider (?:using|switching|moving|replacing|adding|dropping|a|an|the)|"
        r"must (?:still )?(?:be )?(?:verify|verified|checked|confirmed)|(?:needs?|has|have|"
        r"still) to (?:be )?(?:verif\w+|confirm\w*|evaluat\w+|decided)|"
        r"to be (?:verified|confirmed|decided|determined|evaluated|discussed)|tb[dc]|(?:should|"
        r"would need to) verify|we'll see|let's see|hypothes\w+|"
        r"(?:not|n't) (?:yet )?(?:been )?(?:decided|settled|final|agreed)|undecided|open question|"
        r"what if|if we (?:wanted|decide)|(?:some|one) option|an option|"
        r"either \S+(?: \S+){0,6} or|(?:is|are) (?:being )?(?:considered|evaluated|discussed)|"
        r"under (?:consideration|evaluation|discussion)|for now a guess|"
        r"in theory|theoretically|would (?:probably|perhaps|help)|rumou?red|allegedly|tentativ\w+|"
        r"roughly speaking|if i (?:remember|recall)"
    ),
    (
        r"vielleicht|wahrscheinlich|vermutlich|eventuell|möglicherweise|womöglich|anscheinend|"
        r"offenbar|scheinbar|"
        r"könnte[nt]?|dürfte(?= (?:an|am|sein|es|das|die|der))|unsicher|nicht sicher|unklar|ungeklärt|"
        r"ich (?:glaube|denke|vermute|nehme an|schätze)|wir (?:glauben|vermuten|denken)|"
        r"(?:prüfen|klären|überlegen|evaluieren|testen|herausfinden|schauen),? ob|ob (?:wir|es|das|"
        r"sich)|noch (?:zu prüfen|zu klären|nicht (?:entschieden|klar|sicher))|"
        r"zu (?:prüfen|klären|evaluieren)|scheint|entweder .{1,40} oder|(?:wäre|ist) eine option|"
        r"mal sehen|nicht entschieden|steht (?:noch )?nicht fest"
    ),
    (
        r"peut-être|probablement|sans doute|il se peut|pourrai(?:t|ent|ons)|devrait peut-être|"
        r"je (?:pense|crois|suppose)|on (?:pense|suppose)|pas (?:encore )?(?:sûre?|certaine?|décidé|"
        r"clair)|"
        r"(?:évaluer|vérifier|voir|tester|étudier) si|à (?:vérifier|confirmer|évaluer|décider)|"
        r"semble(?:nt)?|il semblerait|apparemment|éventuellement|soit .{1,40} soit|on verra|"
        r"reste à (?:voir|décider|vérifier)"
    ),
    (
        r"quizás?|tal vez|a lo mejor|probablemente|posiblemente|podrí(?:a|an|amos)|creo que|supongo|"
        r"pienso que|no (?:estoy )?segur[oa]s?|no está (?:claro|decidido|confirmado)|"
        r"(?:evaluar|verificar|comprobar|ver|revisar) si|(?:por|falta|hay que) (?:verificar|confirmar|"
        r"decidir|evaluar)|parece(?:n)?(?: que)?|al parecer|aparentemente|o bien .{1,40} o|ya veremos|"
        r"sin (?:decidir|confirmar)"
    ),
    (
        r"возможно|вероятно|наверн(?:ое|яка)|может быть|кажется|похоже|я думаю|не уверен\w*|неясно|"
        r"проверить,? (?:не|ли)|стоит ли|либо .{1,40} либо|не решен\w*|предположительно"
    ),
    (
        r"可能(?!性)(?!需要遵守)|也许|大概|或许|估计|似乎|好像|看起来|看上去|貌似|"
        r"应该是(?=.{0,20}(?:问题|原因|导致|引起|吧))|恐怕|说不定|不确定|不太确定|没确定|尚未(?:决定|"
        r"确定|确认)|还没(?:决定|确定|确认|定)|"
        r"(?:评估|考虑|看看|研究|确认一下|确认|验证|讨论|测试)(?:一下)?.{0,12}是否|考虑(?:使用|改用|"
        r"换成|迁移|引入|用)|待(?:确认|验证|定|评估|讨论)|有待|需要(?:再)?(?:验证|确认|评估)|"
        r"我(?:觉得|认为|猜|想(?:大概|应该|可能))|要么.{1,20}要么|还是.{1,20}没(?:想好|定)|"
        r"或者.{1,20}再说|再看看|不知道是不是|是不是|推测|假设|疑似"
    ),
    (
        r"たぶん|多分|おそらく|恐らく|かもしれ|でしょうか|だろう|(?<!だ)でしょう|と思い(?:ます|"
        r"ました)|と思う|と思われ|気がし|かどうか(?:を)?(?:確認|検討|検証|評価|調べ|不明|わから|試)|"
        r"検討(?:する|します|中|したい|が必要)|可能性(?:が|も)|"
        r"ようです|ようだ|みたいです|みたいだ|らしい|未定|未確認|未決定|要(?:確認|検証|検討)|"
        r"確認が必要|検証が必要|はっきりしない|確信(?:は|が)(?:ない|ありません)|わかりません|もしかし|"
        r"推測|まだ決まっていない|決まっていません|または.{1,20}のどちらか|か.{1,12}か(?:迷|未|決め)|"
        r"はず"
    ),
    (
        r"아마|어쩌면|것 같|수도 있|(?:인|을|ㄹ|할|일|될)지도|확실하지 않|확실치 않|불확실|(?:인지|"
        r"할지|는지|될지)(?: .{0,8})?(?:확인|검토|평가|검증|모르|논의|봐야)|검토(?:해|할|하|가 필요|"
        r" 중| 필요)|고려(?:해|하|할| 중)|여부(?:를)? ?(?:확인|검토|평가|결정)|"
        r"(?:라고|다고) 생각|생각합니다|추정|추측|미정|미확인|확인(?:이|해야)? ?(?:필요|한다|합니다)|"
        r"듯하|듯합|보입니다|보인다|정해지지 않|결정되지 않|거나 .{1,16}중|둘 중"
    ),
)
"""Says that something is supposed, to be looked at, or not chosen yet."""

_FIRM = re.compile(
    r"\b(?:we|i|the team) (?:have |has )?(?:decided|agreed|settled|chose|"
    r"confirmed|verified)\b|\bit is (?:decided|settled|confirmed|certain)\b|\bdefinitely\b|"
    r"\b(?:wir haben|es ist|ist) (?:uns )?(?:entschieden|beschlossen|bestätigt)|\bon a décidé|"
    r"\bnous avons (?:décidé|choisi)|\b(?:hemos )?decidi(?:mos|do)\b|"
    r"(?<!未)(?<!没)(?<!没有)(?<!尚未)(?:已经?决定|决定了|已确认|确认了)|(?:に決めた|に決めました|"
    r"に決定し|を確認しました|確認済み)|(?:하기로 (?:했|결정)|결정했|확인했|확인됐)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？][\"'”’」』)）*_`\s]*$|(?:か|吗|呢|까)[。.]?\s*$")
_CLAUSE = re.compile(
    r"\s*[;；—]\s*|,? (?:but|though|although|aber|jedoch|mais|pero|но) |[，,]?(?:但是?|不过|然而)|"
    r"(?:ですが|だが|が、|けど、?|지만)\s*"
)
_SHORT = 4  # terms: a doubt, or a yes, that is about the sentence before it
_RELEVANT = 0.7  # of the best sentence's share: others that tell of the same matter


@lru_cache(maxsize=1024)
def hedged(text: str) -> bool:
    """Say whether a text supposes, asks, or leaves a choice open; not where it says what was decided."""
    return any(_supposes(sentence) for sentence in _sentences(text))


def hardened(text: str, support_text: str) -> bool:
    """Say whether a text states as settled what the words that it rests on only suppose.

    One sentence that tells the same without a doubt settles it, and so does a yes behind a supposition.
    """
    if hedged(text):
        return False
    wanted = terms(text)
    told = _told(support_text)
    shares = [len(wanted & terms(part)) for part, _ in told]
    best = max(shares, default=0)
    near = [
        doubt for (_, doubt), share in zip(told, shares, strict=True) if share and share >= _RELEVANT * best
    ]
    return all(near) if near else bool(told) and all(doubt for _, doubt in told)


def _told(text: str) -> list[tuple[str, bool]]:
    """Cut a text into clauses, each with whether it stands in doubt; a short one settles that before it."""
    out: list[tuple[str, bool]] = []
    for sentence in _sentences(text):
        asks = _QUESTION.search(sentence) is not None
        for at, part in enumerate(part for part in _CLAUSE.split(sentence) if part.strip()):
            doubt = asks or _supposes(part)
            short = len(terms(part)) < _SHORT
            if out and short and doubt and not asks:
                out[-1] = (out[-1][0], True)
            elif out and not at and out[-1][1] and not doubt and cues.ahead(cues.AGREES).match(part):
                out[-1] = (out[-1][0], False)
            out.append((part, doubt))
    return out


def _supposes(sentence: str) -> bool:
    if _QUESTION.search(sentence):
        return True
    return cues.has(HEDGES, sentence) and not _FIRM.search(sentence)


def _sentences(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield from sentences(" ".join(line.split()))
