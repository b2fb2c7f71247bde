"""Words that tell what a sentence is: the cue tables of the summary that needs no model.

One row a language, in the order English, German, French, Spanish, Russian, Chinese, Japanese, Korean.
A row holds a regular expression's alternatives; a table is compiled on first use. Rows of spaced
languages match whole words, those of unspaced scripts match anywhere. A missing cue costs a weaker
label, one too many a wrong one, so the rows stay short and general.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

Table = tuple[str, ...]

SAID_WRONG = (
    (
        r"no[,.:—–-]|nope|actually|that's (?:wrong|not)|that is (?:wrong|not)|not what i|i (?:said|"
        r"meant)|wrong\b|don't (?:do|use)|stop \w+ing|revert|roll (?:it|that|this) back|undo (?:it|"
        r"that|this)|instead[,.]?\b"
    ),
    r"nein\b|eigentlich|falsch|stattdessen|das stimmt nicht|nicht so",
    r"non\b[,.]?|en fait|c'est faux|plutôt\b",
    r"no[,.]|en realidad|eso no|está mal|incorrecto|más bien",
    r"нет[,.]?|на самом деле|неверно|неправильно",
    r"不对|不是|错了|其实|應該|应该是|别用|不要用",
    r"いや|違います|違う|ちがう|実は|そうではなく|間違",
    r"아니[,.요]?|사실은|틀렸|잘못",
)
"""At the start of a person's sentence: what the agent did or said is put right."""

REPLACES = (
    (
        r"instead of|rather than|not \S+ anymore|no longer|replac\w+|switch\w* (?:from|to)|"
        r"mov\w+ away from|migrat\w+ (?:from|off)|drop(?:ped|ping)?|ditch\w*|get rid of|was (?:wrong|"
        r"outdated)|renam\w+"
    ),
    r"statt|anstatt|anstelle von|nicht mehr|ersetz\w+|umgestiegen|wechs\w+",
    r"au lieu de|plutôt que|remplac\w+|ne plus|à la place de",
    r"en lugar de|en vez de|ya no|reemplaz\w+|cambi\w+ de",
    r"вместо|больше не|замен\w+|перейти с|перешли",
    r"而不是|不再|改用|改成|换成|替换|代替",
    r"の代わり|ではなく|じゃなく|に変更|に置き換え|をやめ",
    r"대신|말고|더 이상|바꿔|변경|교체",
)
"""One thing gives way to another."""

PREFERENCE = (
    (
        r"always|never|prefer\w*|i (?:really )?(?:like|love|hate|dislike)|i don't like|i'd rather|"
        r"from now on|as a rule|my (?:style|habit|convention|preference)s?|favou?rite|keep (?:your |"
        r"the )?(?:responses?|answers?|replies|messages?|commits?)|remember (?:that|to)|"
        r"keep (?:that|this|it) in mind|in (?:all|every) (?:my )?projects?|for future"
    ),
    r"immer|niemals|nie\b|bevorzuge\w*|lieber|ich mag|ab jetzt|künftig|grundsätzlich|merk dir",
    r"toujours|jamais|je préfère|j'aime|dorénavant|désormais|souviens-toi",
    r"siempre|nunca|prefiero|me gusta|de ahora en adelante|a partir de ahora|recuerda que",
    r"всегда|никогда|предпочита\w+|мне нравится|впредь|отныне|запомни",
    r"总是|一直用|永远|从不|绝不|我喜欢|我更喜欢|偏好|习惯|以后都|今后|记住",
    r"いつも|常に|絶対に|決して|好みは|好き|のほうがいい|今後は|これからは|覚えておいて",
    r"항상|언제나|절대|선호|좋아해|좋아합니다|앞으로는|기억해",
)
"""How the person wants things done, whatever the task."""

STANDING = (
    (
        r"from now on|as a rule|in (?:all|every) (?:my )?projects?|for future|rule for (?:everyone|"
        r"everybody|all|us|you)|nobody|no one|in general(?=,|:| for)|for (?:all|any) (?:of )?my \w+|"
        r"stop \w+ing (?:these|those|such|so|all|any|me)"
    ),
    r"ab jetzt|künftig|grundsätzlich|niemand|generell|für alle meine|hör auf,? (?:immer|ständig)",
    r"dorénavant|désormais|personne ne|en général(?=,|:| pour)|pour tous mes|arrête de",
    r"de ahora en adelante|a partir de ahora|nadie|en general(?=,|:| para)|para todos mis|deja de",
    r"впредь|отныне|никто",
    r"以后(?:都|所有|要|请|就|一律)|今后|任何人",
    r"今後|これから|誰も",
    r"앞으로|아무도",
)
"""Holds from now on."""

WISHES = (
    (
        r"(?:my|few|some|other|more|coding|personal|working|general) preferences?\b|(?:my|few|couple of|"
        r"some|more|other) (?:rules|conventions)|how i (?:like|"
        r"want) to work|things about how i|(?:ground|house|working) rules|my (?:style|workflow|"
        r"conventions)"
    ),
    r"(?:meine|ein paar|weitere) (?:vorlieben|präferenzen|wünsche|regeln)|wie ich (?:gern )?arbeite",
    r"(?:mes|quelques|autres) préférences|ma façon de travailler|mes règles",
    r"(?:mis|algunas|otras) preferencias|cómo me gusta trabajar|mis reglas",
    r"(?:мои|несколько|ещё) (?:предпочтени\w+|правил\w*)|как я люблю работать",
    r"我的(?:偏好|习惯|规矩)|几个偏好|工作习惯",
    r"私の好み|好みを|作業スタイル|ルールをいくつか",
    r"제 (?:선호|취향|규칙)|선호 사항|작업 방식",
)
"""Announces preferences: what follows in the same breath is one, too."""

FURTHER = (
    r"also|and|another|plus|one more|oh and",
    r"außerdem|und|auch noch|noch etwas",
    r"aussi|et|également|autre chose",
    r"también|además|y|otra cosa",
    r"также|и|ещё|кроме того",
    r"另外|还有|也",
    r"あと|また|それから|もう一つ",
    r"또|그리고|또한",
)
"""Goes on with what was said before."""

CONSTRAINT = (
    (
        r"must(?:n't)?|has to|have to|cannot|can't|not allowed|forbidden|required?|requirement|at most|"
        r"at least|no more than|no (?:longer|later) than|deadline|only (?:if|when|on|with)|"
        r"needs? to (?:stay|keep|remain|support)|under \d|within \d|shouldn't|should not"
    ),
    (
        r"muss|müssen|darf nicht|dürfen nicht|mindestens|höchstens|nur wenn|verboten|erforderlich|"
        r"sicherstellen"
    ),
    r"doit|doivent|ne (?:doit|peut) pas|au (?:plus|moins)|obligatoire|interdit|il faut",
    r"debe|deben|tiene que|no puede|no debe|como máximo|al menos|obligatorio|prohibido|hay que",
    r"должн\w+|нельзя|обязательно|не более|не менее|запрещено|требует\w*",
    r"必须|不能|不得|不允许|禁止|至少|最多|务必|只能|要求",
    r"必須|しなければ|なければならない|てはいけない|できません|以上|以下|以内|必ず|禁止",
    r"반드시|해야 (?:한다|합니다|해|함)|하면 안|최소|최대|필수|금지",
)
"""A limit that the work has to keep."""

FORBIDS = (
    r"(?:please )?(?:don't|do not|never|avoid|stop)",
    r"(?:bitte )?(?:nicht|keine?n?|niemals|vermeide)",
    r"n(?:e |')\S+ (?:pas|jamais)|évite",
    r"no \w+(?:es|as|e|a)|evita",
    r"не \w+|избегай",
    r"不要|别|不能|禁止",
    r".{1,30}(?:しないで|ないでください)",
    r".{1,30}(?:하지 마|지 마세요)",
)
"""At the start of a person's sentence: what is not to be done."""

DECISION = (
    (
        r"let's|let us|we(?:'ll| will| should)|i(?:'d| would) like to|i want|i(?:'d| would) go with|"
        r"we want|we need|i need|decid\w+|decision|go(?:ing)? with|went with|cho[os]se\w*|chosen|"
        r"settled? on|agreed?|use\b|using\b|adopt\w*|switch\w*|migrat\w+|mov(?:e|ing) to|"
        r"stick(?:ing)? with|opt(?:ed)? for|plan is|pick(?:ed)?|start(?:ing)? with|implement|"
        r"set (?:it )?up|add\b|build\b|drop\b|keep\b|remove\b|separate\b"
    ),
    (
        r"wir (?:nehmen|nutzen|verwenden|machen|wollen|sollten)|lass uns|entschieden|entscheid\w+|"
        r"ich will|ich möchte|verwende\w*|nimm|benutze\w*|nutze\w*|setzen auf|einigen"
    ),
    (
        r"on (?:va|utilise|prend|part)|nous (?:utilis\w+|allons|avons choisi)|décid\w+|décision|"
        r"choisi\w*|je (?:veux|voudrais)|utilis(?:e|ons|er|ez)|adopt\w+|passons"
    ),
    (
        r"vamos a|usemos|usaremos|usar|usamos|decid\w+|decisión|elegi\w+|quiero|quisiera|queremos|"
        r"optamos|adopt\w+"
    ),
    r"давай\w*|будем|реш\w+|решение|выбра\w+|использ\w+|хочу|хотим|нужно|перейд\w+|остановились",
    r"我们(?:用|使用|决定|采用|选)|决定|采用|选择|选用|使用|就用|用\b|我想|我要|我们要|我们需要|需要|统一|改用|定了",
    r"にしましょう|にしよう|に決め|決定|採用|使いましょう|使おう|使います|を使|したい|することに|でいきましょう|に統一",
    r"하자|합시다|하기로|결정|채택|선택|사용하|쓰자|쓰기로|사용합니다|원해|싶어|싶습니다",
)
"""A choice for the work at hand."""

REASON = (
    (
        r"because|since|so that|due to|the reason|reasons?:|as it|in order to|which (?:means|lets|"
        r"avoids|prevents)|this (?:means|prevents|avoids|lets|limits|ensures|way)|to avoid|prevents?|"
        r"avoids?"
    ),
    r"weil|denn|damit|wegen|grund\b|deshalb|deswegen|um .{2,40} zu",
    r"parce que|puisque|afin de|pour que|à cause|grâce à|raison",
    r"porque|ya que|para que|debido a|razón|puesto que|pues\b",
    r"потому что|так как|поскольку|чтобы|из-за|причин\w+",
    r"因为|由于|所以|为了|原因|以便|从而|避免",
    r"ので|から[。、]|ため|理由|なぜなら|おかげで",
    r"때문|이유|위해|왜냐하면|므로|니까",
)
"""Why something is so."""

FAILURE = (
    (
        r"errors?|exceptions?|fail\w*|broken|breaks?|crash\w*|time(?:d)?[ -]?outs?|slow\w*|bugs?|"
        r"doesn't work|not working|don't work|does not|isn't|wrong|hang(?:s|ing)|leak\w*|duplicat\w+|"
        r"stuck|flaky|missing|corrupt\w*|regress\w+|throws?|threw|refus\w+|denied|panic\w*|deadlock\w*|"
        r"race condition|5\d\ds?|40[0-9]s?|problem|issues?|incorrect\w*|unexpected\w*|degrad\w+|"
        r"dies|died|jitter\w*|unstable|overload\w*|out of memory|oom|spik\w+|lost|losing|huge"
    ),
    (
        r"fehler\w*|bricht|abgebrochen|schlägt fehl|fehlgeschlagen|kaputt|absturz|stürzt|langsam|hängt|"
        r"geht nicht|"
        r"funktioniert nicht|problem\w*|falsch"
    ),
    (
        r"erreurs?|échou\w+|échec|plante\w*|lente?s?|bloqu\w+|ne (?:marche|fonctionne) pas|problèmes?|"
        r"cassée?"
    ),
    r"errores|error|falla\w*|fallo|lent[oa]s?|no funciona|se cuelga|roto|problemas?|excepción",
    r"ошибк\w+|падает|упал\w*|не работает|сломал\w*|медленн\w+|завис\w+|проблем\w+|сбой",
    r"报错|错误|失败|异常|崩溃|超时|很慢|太慢|卡住|不工作|无法|有问题|问题|泄漏|丢失",
    r"エラー|失敗|例外|発生し|落ち(?:る|ます|た)|クラッシュ|遅い|動かない|動きません|タイムアウト|バグ|不具合|問題",
    r"오류|에러|죽(?:어|습|는|었)|실패|예외|느려|느립|안 (?:돼|됩|되)|작동하지|멈춰|버그|문제|충돌",
)
"""Something went wrong."""

WORKED = (
    (
        r"it was (?:that|both|exactly|indeed)|fixed[,;.:!]|(?:that|this|it) (?:\w+ )?(?:fixed|worked|"
        r"works|did (?:it|the trick)|solved|helped)|"
        r"fixed (?:it|now)|works? now|working now|no more|resolved|solved|confirmed|(?:is |"
        r"are )?(?:now )?(?:passing|green)|tests? pass\w*|all pass\w*|down to|back to normal|"
        r"problem (?:is )?gone|gone now|good now|exactly (?:that|right|it)|went away|stopped (?:fail|"
        r"crash|happen)\w*"
    ),
    (
        r"(?:das )?hat (?:geholfen|funktioniert|geklappt)|funktioniert jetzt|behoben|gelöst|"
        r"läuft jetzt|jetzt geht"
    ),
    r"ça (?:marche|fonctionne|a marché)|résolu\w*|corrigée?|réglé|c'est bon",
    (
        r"ya (?:cuadra|va|está)\b|(?:eso|ya) (?:lo )?(?:funcion\w+|arregl\w+|solucion\w+)|resuelto|"
        r"arreglado|solucionado"
    ),
    r"помогло|заработал\w*|исправлен\w*|решен\w*|теперь работает|починил\w*",
    r"好了|解决了|修好了|可以了|成功了|正常了|搞定|生效了|没问题了",
    r"直りました|直った|動きました|動いた|解決しました|解決した|うまくいき|治りました|通りました",
    r"해결됐|해결되|해결했|고쳐졌|잘 (?:돼|됩|되|작동)|정상|됐어|됐습니다",
)
"""The remedy held."""

REMEDY = (
    (
        r"fix(?:ed|es)?\b|the solution|solution:|root cause|caused? by|the cause|the problem (?:is|"
        r"was)|the issue (?:is|was)|the problem:|solved by|resolve[sd]?|workaround|patched|turns? out|"
        r"key:|the trick"
    ),
    r"lösung|ursache|behoben|gelöst|liegt (?:an|daran)|lag (?:an|daran)|verursacht",
    r"solution|cause|corrig\w+|résol\w+|vient de|venait de|provoqu\w+",
    r"solución|causa|se (?:arregla|soluciona)|corrig\w+|resol\w+|se debe",
    r"решени\w+|причин\w+|исправ\w+|дело в том|вызван\w*",
    r"解决|修复|原因|根因|根本原因|办法|改为|修正",
    r"原因|修正|解決|対処|直し|対策",
    r"원인|해결|수정|고치|고쳤",
)
"""What was behind a failure, or what to do against it."""

OPEN = (
    (
        r"todo|next (?:steps?|session|time|week|up)|pending|blocked|blockers?|(?:do|for|until) later|"
        r"remaining (?:work|tasks?|items?)|still (?:need|have|to do|open|missing)|not (?:yet|done|"
        r"started)|in progress|follow[- ]?up|tomorrow|unfinished|backlog|open (?:question|issue|"
        r"point)s?|to be (?:done|decided)|waiting (?:for|on)|left to do|planned|critical path"
    ),
    (
        r"noch (?:offen|nicht|zu tun)|offen\w*|nächste\w*|später|morgen|ausstehend|blockiert|in arbeit|"
        r"zu erledigen"
    ),
    r"à faire|reste|prochaine?|plus tard|demain|en (?:cours|attente)|bloqué|pas encore",
    (
        r"pendientes?|próxim\w+|más tarde|mañana|en (?:curso|progreso)|bloquead\w+|falta(?:n)? (?:por|"
        r"hacer)|todavía no|"
        r"por hacer"
    ),
    r"осталось|следующ\w+|позже|завтра|в процессе|ожида\w+|заблокирован\w*|ещё не|пока не",
    r"待办|待处理|下一步|接下来|之后再|稍后|明天|进行中|未完成|还没|阻塞|尚未|待定",
    r"未完了|残り|次回|次は|後で|明日|進行中|保留|まだ|ブロック|今後の課題|予定",
    r"남은|다음에|다음 단계|나중에|내일|진행 중|보류|아직|미완료|예정|대기",
)
"""What is not done yet."""

UNSURE = (
    (
        r"probably|maybe|perhaps|might|possibly|i (?:guess|think|suspect|assume)|my guess|"
        r"not (?:\w+ )?(?:sure|certain)|"
        r"unclear|seems?|likely|could be|evaluate|consider\w*|whether|must verify|to verify|"
        r"should verify|we'll see|hypothes\w+|presumably|wonder\w*|"
        r"not (?:yet )?(?:decided|settled|final)|undecided|(?:have|has)n't decided|what if|if we wanted|"
        r"let's see if"
    ),
    (
        r"vielleicht|wahrscheinlich|vermutlich|eventuell|könnte\w*|möglicherweise|unsicher|ob wir|"
        r"ich glaube|prüfen,? ob"
    ),
    r"peut-être|probablement|sans doute|il se peut|pourrait|je (?:pense|crois)|pas sûr|évaluer",
    r"quizás?|tal vez|probablemente|posiblemente|podría|creo que|no (?:estoy )?segur\w+|evaluar si",
    r"возможно|вероятно|наверное|может быть|кажется|похоже|думаю|не уверен\w*|оценить|проверить, ",
    r"可能|也许|大概|或许|估计|似乎|好像|不确定|是否|考虑|评估",
    r"たぶん|多分|おそらく|かもしれ|でしょうか|だろう|と思い|と思う|かどうか|検討",
    r"아마|어쩌면|것 같|수도 있|일지도|확실하지|검토|고려|여부",
)
"""Said with doubt: it is never made a settled fact."""

AGREES = (
    (
        r"yes|yeah|yep|yup|ok|okay|sure|good|great|perfect|nice|do it|go ahead|sounds good|looks good|"
        r"agreed|approved?|makes sense|exactly|right|let's do|lgtm|ship it|please do|works for me|fine|"
        r"excellent|awesome|cool|love it"
    ),
    r"ja\b|gut|genau|super|perfekt|einverstanden|passt|mach das|klingt gut|okay|gerne|prima",
    r"oui|d'accord|parfait|très bien|vas-y|ça marche|ok|bien",
    r"sí|vale|perfecto|de acuerdo|bien|hazlo|adelante|claro|genial",
    r"да\b|хорошо|отлично|согласен|давай|верно|делай|ладно",
    r"好|可以|行|是的|对|同意|没问题|就这样|就这么",
    r"はい|いいね|いいです|お願い|それで|了解|賛成|そうしま",
    r"네|예|좋아|좋습니다|그렇게|동의|맞아|진행",
)
"""At the start of a person's turn: the proposal before it is taken."""

OFFERS = (
    (
        r"(?:should|shall) (?:i|we)|(?:do|would) you (?:want|like) (?:me|us) to|want me to|"
        r"i (?:suggest|propose|recommend)|(?:here(?:'s| is) )?what i(?:'d)? (?:suggest|propose|"
        r"recommend):?|i(?:'d| would) (?:suggest|recommend|propose|start|use|go|put|keep|pick|make|"
        r"take)|i(?:'d| would)(?= (?!be\b|have\b|say\b|not\b|need\b|like\b|love\b|want\b|rather\b|"
        r"expect\b|guess\b|think\b|also\b)[a-z]{2,} \w)|how about|what about|"
        r"my (?:suggestion|recommendation|proposal)(?: is)?:?|we could|i could|i can"
    ),
    r"soll ich|sollen wir|ich (?:schlage|empfehle|würde)|möchtest du,? dass ich|mein vorschlag:?",
    r"dois-je|voulez-vous que je|veux-tu que je|je (?:propose|suggère|recommande)(?: de)?|et si on",
    r"¿?debería|¿?quieres que|propongo|sugiero|recomiendo|¿?qué tal si",
    r"(?:мне|стоит|нужно) ли|хотите,? чтобы я|предлагаю|рекомендую|может,? ",
    r"要不要|是否需要我|需要我|我建议|建议|推荐|要我",
    r"(?:しましょうか|提案|おすすめ|お勧め)",
    r"할까요|제안|추천|권장",
)
"""A proposal of the agent's, as a question or a suggestion."""

LOST = re.compile(
    r"(?:(?<!\w)(?:instead of|rather than|(?<=[,;—–(] )not|statt|anstatt|au lieu d[eu]|plutôt qu[e']|"
    r"en lugar de|en vez de|вместо)\s+|而不是|代替|のではなく)\s*"
    r"(?:the |a |an |old )*([^,.;:—–()，。；、]{2,50})",
    re.IGNORECASE,
)
"""What a choice was made against, as the first group."""

_PLAIN = 4  # rows that text without any letter outside ASCII can match
_SPACED = 5  # rows whose languages separate words
_LETTER = r"[A-Za-z0-9_À-ɏЀ-ӿ]"  # so that a word glued to an unspaced script is found, too


@lru_cache(maxsize=16_384)  # a statement is asked about again and again
def has(table: Table, text: str) -> bool:
    """Say whether a text holds a cue."""
    return (_plainly(table) if text.isascii() else anywhere(table)).search(text) is not None


@lru_cache(maxsize=16_384)
def opens(table: Table, text: str) -> bool:
    """Say whether a text begins with a cue."""
    return ahead(table).match(text) is not None


@cache
def _plainly(table: Table) -> re.Pattern[str]:
    return re.compile(_alternatives(table[:_PLAIN]), re.IGNORECASE)


@cache
def anywhere(table: Table) -> re.Pattern[str]:
    """Compile a table to match anywhere in a sentence."""
    return re.compile(_alternatives(table), re.IGNORECASE)


@cache
def ahead(table: Table) -> re.Pattern[str]:
    """Compile a table to match at a sentence's start."""
    return re.compile(rf"[\s\"'“”‘’*_¡¿(-]*(?:{_alternatives(table)})", re.IGNORECASE)


def _alternatives(table: Table) -> str:
    spaced, unspaced = "|".join(table[:_SPACED]), "|".join(table[_SPACED:])
    return rf"(?<!{_LETTER})(?:{spaced})(?!{_LETTER})" + (f"|(?:{unspaced})" if unspaced else "")
