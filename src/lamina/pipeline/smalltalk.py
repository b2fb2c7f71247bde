"""Words that say little: small talk, openers, running commentary, and what names no subject.

The tables have the shape of those in `cues`.
"""

from __future__ import annotations

import re
from functools import cache


def words(text: str) -> frozenset[str]:
    """Split a list of words."""
    return frozenset(text.split())


NARRATES = (
    (
        r"let me|i'll (?:now |then |also |just )?(?:check|look|read|run|start|take|see|search|go|begin|"
        r"continue|get|do|verify|keep)|i will now|now (?:i'll|let me|i)|looking (?:at|into)|checking|"
        r"reading|running|starting (?:with|on|by|now)|on it|i'll [^,.;:]{3,40} now(?=\W|$)|"
        r"i'm going to|going to (?:check|look|run)|working on it|ready when you are|anything else|"
        r"hope (?:this|that) helps|you're welcome|happy to|feel free|here (?:are|is|'s) (?:the|what|"
        r"how|your)\b[^:]*$|i keep forgetting|(?:pushed|committed)\b|that's (?:it|all)\b"
    ),
    r"ich (?:schaue|prüfe|sehe|lese|starte|beginne)|lass mich|schauen wir|gern geschehen|sonst noch",
    r"je (?:vais|regarde|vérifie|lance|commence)|laissez-moi|voyons|de rien|autre chose",
    r"voy a|déjame|vamos a ver|veamos|de nada|algo más|estoy (?:revisando|mirando)",
    (
        r"сейчас (?:посмотрю|проверю|запущу)|давайте посмотрим|посмотрю|проверю|"
        r"пожалуйста,? обращайтесь|что-нибудь ещё"
    ),
    r"让我|我来|我先|我这就|正在|稍等|还有什么|不客气",
    r"確認します|見てみます|調べます|実行します|始めます|どういたしまして|他に",
    r"확인해 ?보겠|살펴보|시작하겠|실행하겠|천만에|더 필요",
)
"""The agent's running commentary; it holds nothing to remember."""

LEADING = (
    (
        r"good|great|perfect|nice|ok|okay|yes|yep|yeah|sure|done|noted|got it|found it|thanks|thank you|"
        r"right|cool|awesome|excellent|understood|confirmed|exactly|absolutely|of course|agreed|looks good|"
        r"sounds good|on it|will do|no problem|implemented|added|fixed|updated|configured|"
        r"makes sense|solid|clean|alright|well|so|now|and|also|then|but|hey|hi|hello|no"
    ),
    r"ja|gut|okay|super|perfekt|danke|genau|alles klar|erledigt|fertig|verstanden|also|und|nein",
    r"oui|bien|d'accord|parfait|merci|exact|c'est fait|compris|alors|et|non",
    r"sí|bien|vale|perfecto|gracias|exacto|listo|hecho|entendido|entonces|y|no",
    r"да|хорошо|отлично|спасибо|верно|готово|понял|итак|и|нет",
    r"不对|错了|好的?|可以|谢谢|对|没错|明白了?|收到|完成了?|是的|那么|不",
    r"はい|了解です?|ありがとうございます?|わかりました|完了しました|では|それでは|いいえ",
    r"네|예|좋아요?|좋습니다|감사합니다|알겠습니다|완료했습니다|그럼|아니요?",
)
"""Words before the first comma or stop that only acknowledge."""

TRIMMED = (
    (
        r"i(?:'d| would) like (?:us |you )?to|i want (?:us |you )?to|i need (?:you )?to|we (?:need|"
        r"want|have) to|(?:i|we) (?:want|need)(?= (?!to\b|you\b|us\b|it\b|them\b|(?:[\w-]+ ){1,4}to (?:be )?"
        r"[a-z]))|(?:i|we)(?:'d|"
        r" would)(?= (?:go|use|start|keep|put|add|pick|rather)\b)|let's|let us|i'll|i will|we'll|"
        r"we will|ok(?:ay)?|but|can you|could you|please|also|now|so|"
        r"and|then|next,? (?:i want|let's|we (?:need|want) to)|here(?:'s| is| are)|i also want"
    ),
    r"ich (?:will|möchte|würde gern)|lass uns|wir wollen|bitte|kannst du",
    r"je (?:veux|voudrais)|nous voulons|s'il te plaît|peux-tu|il faut",
    r"quiero|quisiera|queremos|vamos a|por favor|puedes",
    r"я хочу|мы хотим|давайте|давай|пожалуйста|можешь",
    r"我想要?|我们想|请|麻烦|让我们|我希望",
    r"では|それでは|次に",
    r"그럼|이제|우리",
)
"""What may go from the front of a wish: the wish then reads as a statement."""

PRAISES = (
    (
        r"good|great|nice|solid|clean|excellent|perfect|smart|classic|common|huge|awesome|wonderful|"
        r"lovely|interesting"
    ),
    r"gute?\w*|schön\w*|tolle?\w*|saubere?\w*",
    r"bonne?|très|excellente?|belle?",
    r"buen\w*|excelente|gran",
    r"хорош\w+|отличн\w+|прекрасн\w+",
    r"很好|不错|太好|漂亮",
    r"良い|素晴らしい|いい",
    r"좋은|훌륭|멋진",
)
"""Opens a short remark that only rates."""

GENERIC = re.compile(
    r"(?:the )?(?:key (?:points?|details?|changes?|things?)|highlights?|summary|details?|notes?|in short|"
    r"tl;dr|changes|overview|(?:two|three|a few|several) (?:things|points|options|parts)|wichtige punkte|"
    r"zusammenfassung|points clés|résumé|puntos clave|resumen|ключевые моменты|итого|"
    r"要点|关键点|总结|ポイント|要約|핵심|요약)\s*[:：]\s+",
    re.IGNORECASE,
)
"""Leads of a list that say nothing about it."""

SHORTER = (
    (r"what(?:'s| is| are| was| were) (?:the |our )?(.+)", r"\1:"),
    (r"how (?:do|can|should|would|did) (?:i|we|you) (.+)", r"How to \1:"),
    (r"(?:was ist|was sind|wie lautet|wie lauten) (?:der |die |das )?(.+)", r"\1:"),
    (r"(?:quelle?s? (?:est|sont)) (?:le |la |les )?(.+)", r"\1:"),
    (r"¿?(?:cuál es|cuáles son|qué es|qué son) (?:el |la |los |las )?(.+)", r"\1:"),
)
"""Questions that read better as the head of their answer."""

FILLS = words(
    "come comes coming message messages "
    "add added adding allow allows apply ask bring build built call called calls change changed changes "
    "check choose clean close configure consider create created cut decide define delete deploy design "
    "do done drop enable ensure extend figure find finish fix fixed focus follow format generate "
    "getting give handle handles happen happens help hit hitting hook implement improve include "
    "includes install integrate introduce investigate keep left limit look made manage mean means merge "
    "migrate move moved moving name notice open organize plan prefer prepare process produce propose "
    "provide pull push put read reduce refactor remember remove rename replace replaced report require "
    "requires resolve restart return returns revert review rewrite run running runs save scaffold see "
    "seeing seems send separate serve shows showing show ship solve sort split start started starting "
    "starts stop store stored support switch switched switching tell tests time track try trying turn "
    "update updated upgrade verify wait want wants wire work worked working works write wrote thing "
    "things lot bit way ways part parts kind case cases project code file files app application repo "
    "error errors issue issues problem problems bug bugs data value values user users everything "
    "something anything someone current new proper several first next last today tomorrow yesterday "
    "session quick final classic huge whole entire various few more evaluate statt anstatt vielleicht "
    "wir nehmen utilise utilisons utiliser usamos usemos вместо давай использовать решили better best "
    "big small old different same main simple full real great load system setup key fact prod there "
    "einrichten bauen machen nutzen verwenden neu neue neuen ajouter faire nouveau nouvelle usar "
    "agregar hacer nuevo nueva добавить сделать новый новая"
)
"""Words that say too little to name a subject by."""

COMMON = words(
    "a about after again all also am an and any are as at back be because been before being both but by "
    "can could did do does doing don done down each else even every few for from further get gets "
    "getting go going good got had has have having he her here hers him his how i if in into is it its "
    "itself just let like make makes me more most my need needs new no nor not now of off ok on once "
    "one only or other our ours out over own please re same set she should so some still such sure take "
    "than thanks that the their them then there these they this those through to too under until up us "
    "use used using very ve want was way we well were what when where which while who whom why will "
    "must may might shall with would yes yet you your yours "
    "der die das den dem des ein eine einen und oder aber ist sind "
    "war wir ihr ich du sie es mit von zu im auf für nicht auch noch dass wie wenn dann als bei nach "
    "aus um nur le la les un une et ou mais est sont nous vous je tu il elle avec de au aux en dans sur "
    "pour pas ne que qui ce cette se sa son ses plus par el los las una unos unas y o pero nosotros yo "
    "ella con del al por para su sus lo más como и в на не что как это мы вы я он она они с по из за "
    "для от у к о а но или же бы все так уже то"
)
"""Grammar and small talk, which count as no content."""


@cache
def lead_in() -> re.Pattern[str]:
    """Compile what acknowledges at a statement's start, with the punctuation behind it."""
    words = "|".join(LEADING)
    end = r"(?:[,.!:;，。！：；、]+\s*|\s+[—–-]+\s+|$)"
    return re.compile(rf"[\s\"'“‘*_]*(?:{words}){end}", re.IGNORECASE)
