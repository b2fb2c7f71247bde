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
        r"(?<!say )(?<![-`])(?:probably|maybe|perhaps|possibly|presumably|supposedly|apparently|conceivably)|"
        r"(?:might|could) (?:\w+ )?(?:be|have|need|use|help|work|cause|also|well|"
        r"fix|solve|explain|improve|reduce|leak)|might not (?:be|work|help|need|fit|have|scale)|"
        r"(?:i|we|you|it|this|that|there|he|she|they|team) might|"
        r"may (?:well|not be (?:the|a|an|enough|needed|worth|related|right)|be (?:the|a|an|due|caused|"
        r"related|better|worth|wrong)|have been|help (?!itself|themselves))|"
        r"i (?:guess|think|suspect|assume|suppose|wonder|believe|reckon)|we (?:think|suspect|assume|"
        r"guess|suppose|believe)|my guess|"
        r"not (?:\w+ )?(?:sure|certain|clear|confirmed|verified|convinced)|(?:isn't|aren't) (?:clear|"
        r"sure|certain|confirmed)|unsure(?!=)|"
        r"(?:is|are|was|it's|still|yet|remains?) un(?:clear|certain)|un(?:clear|certain)(?= *(?:[.,:;)\]!]|"
        r"$)| (?:why|how|"
        r"whether|if|what|who|when|where|about)\b)|"
        r"(?:is|are|was|still|yet|as|remains?) (?:unconfirmed|unverified)|"
        r"(?:unconfirmed|unverified)(?= *(?:[.,:;)\]!]|$)| (?:report|guess|claim|theory|suspicion|rumou?r))|"
        r"seems? (?:to(?! (?:the|an?|them|users) )|like|that)|it (?:seems|appears|looks like)|appears to|"
        r"looks like (?:it|the|a|we)|(?<!un)likely|"
        r"(?:(?:(?<=to )|(?<=must )|(?<=should )|(?<=let's )|(?<=we )|(?<='ll )|(?<=will )|(?<=and )|"
        r"(?<=please )|(?<=still )|(?<=also )|(?<=[:,;(*-] )|(?<=[:(*-])|^)"
        r"(?:evaluate|investigate|explore|figure out|discuss|think about)|"
        r"(?:(?:(?:we|i|someone|somebody|team)(?: still| also|'ll)? (?:need|needs|have|has|want|wants|plan|"
        r"would like|are going|should|must|will|can|ought)|^need|remains?|left|still|let's|let us|please|"
        r"todo:?|"
        r"'ll)(?: still)? (?:to )?|(?<=[:,;(*-] )|(?<=[:(*-])|^(?:to )?)"
        r"(?:check|find out|see|decide|verify|test|determine|examine)|needs? to decide) "
        r"(?:\w+ ){0,2}(?:whether|if)(?! the (?:file|user|request))|"
        r"(?<!we )(?<!i )(?:consider(?:ing)?|thinking (?:about|of)|toying with) \w+ing|(?:we|"
        r"i) (?:could|should) (?:try|consider|evaluate|look into)|"
        r"(?:we|i|you) could|consider (?:using|switching|moving|replacing|adding|dropping|a|an|the)|"
        r"(?:this|that|it|these|those|which|we|i|they) (?:still |also )?(?:must|has to|have to|needs? to) "
        r"(?:still |first |yet )?(?:be )?(?:verif\w+|check(?:ed)?|confirm(?:ed)?|evaluated?)(?! in |ed in )|"
        r"(?:fix|cause|theory|assumption|guess|idea|claim|results?|numbers?|suspicion|choice|approach|"
        r"estimate|diagnosis) (?:\w+ )?(?:must|has to|have to|needs? to) (?:\w+ )?be (?:verified|checked|"
        r"confirmed|evaluated)|"
        r"(?:must|has|have|needs?) (?:to )?(?:still|yet|first) (?:to )?(?:be )?(?:verif\w+|check(?:ed)?|"
        r"confirm(?:ed)?|evaluated?)|still (?:must|has to|have to|needs? to|to) (?:be )?(?:verif\w+|"
        r"check(?:ed)?|confirm(?:ed)?|evaluated?|decided?)|^must (?:still )?(?:verify|check|confirm)|"
        r"(?:must|has to|have to|needs? to) be (?:verified|checked|evaluated) (?:whether|if)|"
        r"(?:is|are|remains?|yet|still) to be (?:verified|confirmed|evaluated)|to be (?:verified|confirmed|"
        r"evaluated)(?= *(?:[.,:;)\]]|$))|to be (?:decided|determined|discussed)|"
        r"tb[dc](?! (?:fields?|entries|items|values|columns?|marks?|labels?))|(?:should|"
        r"would need to) verify|we'll see|let's see|"
        r"hypothes\w+(?! (?:tests?|strateg\w+|profiles?|settings|examples|generat\w+))|"
        r"(?:not|n't) (?:yet )?(?:been )?(?:decided|settled|final|agreed)(?! (?:until|by|in) )|undecided|"
        r"open question|what if|if we (?:wanted|decide)|"
        r"(?:one|another|some) options? (?:here |now )?(?:is|are|would|could|might|may)|"
        r"(?:is|be|remains|still|also|as) an option(?= *(?:[.,;!)]|$)| (?:too|here|as well|if|later))|"
        r"(?:(?:we|i|it|this|that|cause|problem|bug|reason|culprit|leak|failure|error)(?:'s|'ll| is| was|"
        r" will| would| could| can| should| must be| has to be)? (?:\w+ )?|^)either \S+(?: \S+){0,6} or"
        r"(?!(?: \w+){1,4} (?:must|may|can|is|are|works?|approves?|has|have) )|"
        r"(?:is|are) (?:still |currently |now )?being (?:considered|evaluated|discussed)|"
        r"(?:is|are) (?:still|currently) (?:considered|evaluated|discussed)|"
        r"(?:is|are) considered (?:for|as an? (?:option|alternative|replacement))|"
        r"(?:is|are|still|currently|remains?) under (?:consideration|evaluation|discussion)|"
        r"under (?:consideration|evaluation|discussion)(?= *(?:[.,;)\]]|$))|for now a guess|"
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
        r"zu (?:klären|evaluieren)|(?:noch|bleibt|wäre) (?:\w+ ){0,2}zu prüfen|"
        r"(?:muss|müssen) (?:noch|erst) (?:\w+ )?(?:geprüft|bestätigt|geklärt)|scheint|"
        r"(?:(?:wir|ich|noch|ursache|fehler|problem|entschieden)\b.{0,20}|(?:es|das) (?:ist|liegt|"
        r"war) (?:\w+ )?|^)"
        r"entweder .{1,40} oder"
        r"(?! .{1,20} (?:muss|müssen|darf) )|"
        r"(?:wäre|ist) eine option|mal sehen|nicht entschieden|steht (?:noch )?nicht fest"
    ),
    (
        r"peut-être|probablement|sans doute|il se peut|pourrai(?:t|ent|ons)|devrait peut-être|"
        r"je (?:pense|crois|suppose)|on (?:pense|suppose)|pas (?:encore )?(?:sûre?|certaine?|décidé|"
        r"clair)|"
        r"(?:évaluer|vérifier|voir|tester|étudier) si|"
        r"(?:(?<=est )|(?<=sont )|(?<=reste )|(?<=restent )|(?<=encore )|(?<=[,:(] )|(?<=[(])|^)"
        r"à (?:vérifier|confirmer|évaluer|décider)(?! (?:avant|par|à chaque))|"
        r"semble(?:nt)?|il semblerait|apparemment|éventuellement|"
        r"(?:(?:on|nous|c'est|cause|problème|bogue|bug|erreur|panne)\b.{0,25}|^)soit .{1,40} soit|on verra|"
        r"reste à (?:voir|décider|vérifier)"
    ),
    (
        r"quizás?|tal vez|a lo mejor|probablemente|posiblemente|podrí(?:a|an|amos)|creo que|supongo|"
        r"pienso que|no (?:estoy )?segur[oa]s?|no está (?:claro|decidido|confirmado)|"
        r"(?:evaluar|verificar|comprobar|ver|revisar) si|(?:por|falta) (?:verificar|confirmar|"
        r"decidir|evaluar)|hay que (?:(?:verificar|confirmar|evaluar|ver) (?:aún|todavía|si)|decidir)|"
        r"parece(?:n)?(?: que)?|al parecer|aparentemente|o bien .{1,40} o|ya veremos|"
        r"(?:está|sigue|aún|todavía|queda)n? sin (?:decidir|confirmar)|sin (?:decidir|confirmar)(?=[.,;]|$)"
    ),
    (
        r"возможно|вероятно|наверн(?:ое|яка)|может быть|кажется|похоже|я думаю|не уверен\w*|неясно|"
        r"проверить,? (?:не|ли)|стоит ли|либо .{1,40} либо|не решен\w*|предположительно"
    ),
    (
        r"(?<![尽不])可能(?!性)(?!需要遵守)|也许|大概(?!念)|或许|估计(?!值)|似乎|好像|看起来|看上去|貌似|"
        r"应该是(?=.{0,20}(?:问题|原因|导致|引起|吧))|恐怕|说不定|不确定|不太确定|没确定|尚未(?:决定|"
        r"确定|确认)|还没(?:决定|确定|确认|定)|"
        r"(?:评估|考虑|看看|研究|确认一下|确认|验证|讨论|测试)(?:一下)?.{0,12}是否|考虑(?:使用|改用|"
        r"换成|迁移|引入|用)|待(?:确认|验证|定|评估|讨论)(?!的(?!问题|事|点))|有待|"
        r"(?:还|仍|尚|再|这个?|这点|此)[^，。]{0,4}需要?(?:再)?(?:进一步)?(?:验证|确认|评估)|"
        r"需要再(?:验证|确认|评估)|需要评估(?=[。，；]|$)|"
        r"我(?:觉得|认为|猜|想(?:大概|应该|可能))|要么.{1,20}要么|还是.{1,20}没(?:想好|定)|"
        r"或者.{1,20}再说|再看看|不知道是不是|是不是|推测(?!执行)|假设|疑似"
    ),
    (
        r"たぶん|多分|おそらく|恐らく|かもしれ|でしょうか|だろう|(?<!だ)でしょう|と思い(?:ます|"
        r"ました)|と思う|と思われ|気がし|かどうか(?:を)?(?:確認|検討|検証|評価|調べ|不明|わから|試)|"
        r"検討(?:する|します|中|したい|が必要)|可能性(?:が|も)|"
        r"(?<!次の)(?<!以下の)(?:ようです|ようだ)|みたいです|みたいだ|(?<![ばずた])らしい|未定(?!義)|"
        r"未確認(?!の(?!情報|点|事項|内容))|未決定|(?<![重必])要(?:確認|検証|検討)|"
        r"確認が必要|検証が必要|はっきりしない|確信(?:は|が)(?:ない|ありません)|わかりません|もしかし|"
        r"推測|まだ決まっていない|決まっていません|または.{1,20}のどちらか|か.{1,12}か(?:迷|未|決め)|"
        r"はず(?=です|だ|で|な|[。、]|$)"
    ),
    (
        r"아마(?!존)|어쩌면|것 같|수도 있|(?:인|을|ㄹ|할|일|될)지도|확실하지 않|확실치 않|불확실|(?:인지|"
        r"할지|는지|될지)(?: .{0,8})?(?:확인|검토|평가|검증|모르|논의|봐야)|"
        r"검토(?:해 ?(?:보|볼|봐)|할 (?:것|예정|필요|수)|하고 있|하자| 중| 필요)|"
        r"(?:아직|더|추가|도입|사용|전환)\S* (?:\S+ )?검토(?:가 필요|해야)|"
        r"고려(?:해야|해 ?(?:보|볼|봐)|할|하고| 중|합니다|한다)|"
        r"여부(?:를)? ?(?:확인|검토|평가|결정)(?:해야|할|이 필요|가 필요| 필요| 중|하자)|"
        r"(?:라고|다고) 생각|생각합니다|추정(?!치)|추측|미정(?!의)|미확인(?=[.,]|$|이|임|입)|"
        r"(?:아직|더|추가|추후|이건|이것은|이 점은|이 부분은|나중에|다시)\S*.{0,12}확인(?:이|을)? ?(?:필요|"
        r"해야)|"
        r"확인 필요(?:함)?(?=[.,]|$)|"
        r"듯하|듯합|(?:것으로|처럼|듯|로) 보(?:입니다|인다)|정해지지 않|결정되지 않|거나 .{1,16}중|둘 중"
    ),
)
"""Says that something is supposed, to be looked at, or not chosen yet."""

_OF_THINGS = re.compile(
    r"\b(?:an?|every|each|any) (?:\w+ ){1,3}(?:may|might)\b(?! (?:help|be (?:the|why|due|behind|caused)))|"
    r"\b(?:might|may|could) (?!be (?:the|an?|due|why) )[^.;]{1,60}(?:\bat any time|, so (?!let|we |i |"
    r"that ))|"
    r"\b(?:otherwise|or else)\b[^.;]{0,40}\b(?:might|may|could)\b|\bcould not\b|\bcouldn't\b|"
    r"\b(?:that|which|who) (?:seems?|appears?) to\b|\byou could (?:be|get) \w+(?:ed|out)\b|\bwhat (?:could|"
    r"might) be \w+\b|"
    r"\b(?:if|when|while|until|unless|whose|that|which) [^,;.]{0,40}\b(?:is|are|was|were|has|have)"
    r"(?: not|n't)(?: been)? (?:confirmed|verified|clear|certain|settled|decided|final)\b|"
    r"\b(?:if|when|while|until|unless|that|which) (?:\w+ ){0,4}(?:is|are) un(?:clear|certain|confirmed|"
    r"verified)\b|"
    r"\bthe (?:most )?likely \w+ (?:is|are) \w+(?:ed|wn)\b|"
    r"\b(?:return|show|pick|print|list|predict|choose|give)s? the (?:most )?likely\b|"
    r"^[\W_]*(?:check|verify|test|see|determine) (?:\w+ ){0,2}(?:whether|if)\b(?=.*\b(?:then|every|each|"
    r"always|"
    r"before (?!we |i |deciding)|after)\b)|"
    r"\b(?:used?|serves?|script|hook|tool|function|able|in order|calls? \S+|runs? \S+) to (?:check|verify|"
    r"test|"
    r"see|determine|decide|find out) (?:whether|if)\b|"
    r"\b(?:us(?:e|es|ed|ing)|with|by|runs?) hypothesis\b|"
    r"\b(?:this|that|it|these|those|they) (?:must|has to|have to|needs? to) be \w+ (?:on every|every|by|"
    r"each)\b|"
    r"\b(?:prüft|testet|kontrolliert|schaut|meldet|zeigt|entscheidet|prüfe|prüfen sie)\b[^.;]{0,30}, ob\b|"
    r"\b(?:vor jede[mr]|bei jede[mr]|immer)\b[^.;]{0,60}\bob\b|\bkönnten? [^.;]{0,40}\b(?:jederzeit|daher|"
    r"deshalb)\b|"
    r"\b(?:sert|servent|utilisée?s?|permet|permettent) (?:à|de|pour) (?:vérifier|tester|voir) si\b|"
    r"\bpourrai(?:t|ent) [^.;]{0,40}, donc\b|"
    r"\b(?:sirven?|usan?|permiten?|siempre) (?:para )?(?:comprobar|verificar|ver|revisar) si\b|"
    r"\bantes de\b.{0,40}\b(?:comprobar|verificar|revisar) si\b|"
    r"\b(?:comprobar|verificar|revisar) si\b(?=.{0,80}\bantes de\b)|\bpodrían? [^.;]{0,40}, así que\b|"
    r"\b(?:перед|всегда|до)\b[^.;]{0,30}проверить,? (?:не|ли)\b|"
    r"可能(?!是)[^。]{0,30}?[，,] *(?:所以|因此|因而|故|调用方|必须|需要|须|请|务必)|(?:否则|"
    r"不然)[^。]{0,16}可能|"
    r"(?:前|时|后|每次|会|总是|必须先?)[^，。]{0,4}(?:检查|确认|验证|测试|评估|判断)[^，。]{0,12}(?:是否|"
    r"是不是)|"
    r"(?:前に|時に|際に|毎回|必ず|(?:フック|スクリプト|テスト|関数|ツール|ジョブ|プログラム|サーバー?|"
    r"システム)[はが])"
    r"[^。]{0,40}(?:かどうか(?:を)?(?:確認|調べ|検証|テスト|判定)|(?:確認|検証)が必要)|"
    r"可能性が(?:ある|あります)(?:ため|ので|から)|수도 있(?:으므로|기 때문|으니)|"
    r"(?:전에|마다|때|항상|반드시|(?:훅|스크립트|테스트|함수|서버|도구)[은는이가])[^.]{0,40}"
    r"(?:인지|할지|는지|될지)(?: .{0,8})?(?:확인|검증)|"
    r"^\S+[은는] .{0,40}(?:인지|는지) (?:확인|검증|판단)(?:한다|합니다)",
    re.IGNORECASE,
)
"""What software and rules do in the same words: checks whether, must be verified each time."""

_REASON = re.compile(
    r"(\b(?:never|do not|don't|always|must|avoid)\b.{1,120}?)\b(?:because|since|as) .*|"
    r"((?:禁止|不要|不得|必须|务必).{1,60}?)(?:因为|由于).*",
    re.IGNORECASE,
)
"""A rule's reason tells what may happen; the rule stands for all that."""

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
    if not cues.has(HEDGES, sentence) or _FIRM.search(sentence):
        return False
    rest = _OF_THINGS.sub(" … ", _REASON.sub(_rule, sentence))
    return cues.has(HEDGES, rest)


def _rule(match: re.Match[str]) -> str:
    return match[1] or match[2]


def _sentences(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield from sentences(" ".join(line.split()))
