"""Words that tell a statement's form: a choice, its reason, a task, a report, what is left, what is done.

The tables have the shape of those in `cues`, and are narrower: what they match decides a label or
a section, so a cue that is only likely has no place here.
"""

from __future__ import annotations

import re

CHOICE = (
    (
        r"(?<!not )use\b(?! (?:it|that|this|them|those)\b)|we(?:'re| are) using|(?<!'s )going with|"
        r"go with|went with|"
        r"decided (?:on|to|for|that|against)|"
        r"cho[os]se\w*|settled? on|adopt\w*|switch\w* (?:\w+ )?(?:to|from|back)|"
        r"migrat\w+ (?:to|from|off)|mov(?:e|ing) (?:to|away)|go back to|stick(?:ing)? (?:with|to)|"
        r"opt(?:ed)? for|start with|instead of|rather than|no longer|"
        r"(?:i|we)(?:'d| would)? (?:want|like)(?= (?!to\b|you\b|us\b|it\b|me\b|them\b|this\b|that\b))|"
        r"by default|let's .{3,60} so (?:that )?\w+|stay(?:ing)? (?:with|on)|keep using|"
        r"\S+ only[,.;](?! when)"
    ),
    (
        r"(?:wir|ich) (?:nehmen?|nutzen?|verwenden?|setzen?)|nehmen wir|nutzen wir|verwenden wir|"
        r"entschieden|setzen auf|bleiben bei|verwende|nimm|(?:an)?statt"
    ),
    (
        r"on (?:utilise|prend|part sur|garde)|nous (?:utilisons|avons choisi|gardons)|décidé|choisi\w*|"
        r"au lieu de"
    ),
    r"vamos a usar|usemos|usaremos|decidi\w+|elegi\w+|optamos|nos quedamos con|en (?:lugar|vez) de",
    (
        r"использу(?:ем|ю)|давай\w* использовать|решили|перейд\w+|переходим|выбра\w+|остаёмся|"
        r"остановились на|вместо"
    ),
    r"决定|采用|选用|选择|就用|我们用|改用|继续用|统一用|不用|用\s?[A-Za-z]",
    r"を使います|を使いましょう|を使おう|を採用|に決め|にしましょう|に統一|ではなく|でお願いします|をやめ",
    r"사용하기로|사용합니다|쓰기로|하기로 (?:했|결정)|채택|결정했|유지하기로|대신",
)
"""One way out of several is settled."""

WHY = (
    r"because|due to|the reason|so that|to avoid|we've been burned",
    r"weil|damit|denn|deshalb|aus dem grund|sonst",
    r"parce que|puisque|afin de|pour que|car\b",
    r"porque|ya que|para que|debido a|puesto que",
    r"потому что|так как|поскольку|чтобы",
    r"因为|由于|为了",
    r"ため|ので",
    r"때문|위해|라서|아서",
)
"""Says outright why something is so."""

STATUS = (
    (
        r"status|where (?:are|were) we|where (?:is|are) (?:the|both|all|my)|progress|summary|recap|"
        r"catch me up|left off|overview of where"
    ),
    r"stand der|wo stehen wir|status|zusammenfassung|fortschritt",
    r"où en (?:est|sommes)|état|statut|résumé|avancement",
    r"estado|dónde (?:vamos|estamos)|resumen|progreso|avance",
    r"статус|на чём мы|где мы|итог|прогресс|сводк\w+",
    r"进度|状态|进展|到哪|总结一下|现状",
    r"進捗|状況|どこまで|まとめ|ステータス",
    r"진행 상황|상태|어디까지|요약|현황",
)
"""The person asks how things stand."""

SETUP = (
    (
        r"ports?\b|localhost|env(?:ironment)? (?:vars?|variables?)|\.env|version|commands?|install\w*|"
        r"runs? on|python \d|node \d|credentials|config(?:uration)?|host(?:name)?|docker|directory|"
        r"startup|locally"
    ),
    r"umgebungsvariable\w*|befehl\w*|installier\w*|läuft auf|verzeichnis|konfiguration",
    r"variables? d'environnement|commandes?|installe\w*|tourne sur|répertoire|configuration",
    r"variables? de entorno|comandos?|instala\w*|corre en|directorio|configuración",
    r"переменн\w+ окружения|команд\w+|установ\w+|порт\w*|каталог|конфигурац\w+",
    r"端口|环境变量|命令|安装|版本|目录|配置|运行在",
    r"ポート|環境変数|コマンド|インストール|バージョン|ディレクトリ|設定",
    r"포트|환경 ?변수|명령|설치|버전|디렉터리|설정",
)
"""Facts about the machine and the tools."""

BECAUSE = re.compile(
    r",? (?:because |due to the fact that |(?=(?:so that|weil|denn|parce que|porque|потому что)\s))|"
    r"[，,]\s?因为\s?",
    re.IGNORECASE,
)
"""Parts a choice from its reason inside one sentence."""

LEFT = (
    (
        r"(?:still |things |what(?:'s| is) )?(?:open|left|missing|remaining|outstanding|pending|to do)"
        r"(?: (?:then|now|points?|ends?|items?|work|tasks?|questions?|is|are|to do))*\s*:|to-?do\b|"
        r"not (?:yet )?done\b\s*:?|"
        r"(?:known )?(?:limitations?|gaps?)\s*:|next(?: steps?| up| session| time)?\s*:|"
        r"follow[- ]ups?\s*:|blocked\b"
    ),
    r"(?:noch )?offen\b|(?:noch )?zu (?:tun|erledigen)|ausstehend|nächste schritte?\s*:",
    r"(?:reste(?: à faire)?|à faire|prochaines? étapes?)\b",
    r"(?:pendientes?|falta|por hacer|próximos pasos?)\b",
    r"(?:осталось|не сделано|следующие шаги?)\b",
    r"待办|未完成|剩余|还没|下一步|遗留",
    r"未完了|残り|残って|次回|今後の課題|未対応",
    r"남은|미완료|다음 단계|아직",
)
"""At the start of a statement: it names what is not done."""

DONE = (
    (
        r"done|finished|complete[d]?|implemented|merged|shipped|deployed|migrated|fixed|resolved|closed|"
        r"released|landed|in place|set up|(?:is|are|runs?|works?) (?:\S+ ){0,4}now|now (?:runs?|works?|is)|"
        r"i (?:\w+ )?(?:set|did|made|added|wrote|replaced|raised)"
    ),
    r"fertig|erledigt|abgeschlossen|umgesetzt|behoben|läuft jetzt|angebunden",
    r"fait|terminée?|fini|livrée?|corrigée?",
    r"hecho|listo|terminad[oa]|completad[oa]|arreglad[oa]",
    r"готово|сделано|сделал\w*|закончил\w*|исправлен\w*",
    r"完成|做完|搞定|已经|修好",
    r"完了|終わり|終わった|済み|対応しました|実装しました",
    r"완료|끝났|마쳤|처리했|적용했",
)
"""Something that was open has come to its end."""

NOT_DONE = re.compile(
    r"\b(?:not|isn't|aren't|n't|never|nicht|kein\w*|pas|no|не)\b|没|未|ない|ません|않|아직", re.IGNORECASE
)

TASK = re.compile(
    r"(?:(?:we|i) (?:need|want)(?: to)? |let's )?(?:it's |it is )?(?:time to |get started (?:on|with) |"
    r"start(?:ing)? (?:on|with|by )?|begin(?:ning)? (?:with )?|continue (?:with )?|go ahead and )?"
    r"(?:(?:set(?:ting)? ?up|build(?:ing)?|add(?:ing)?|implement(?:ing)?|creat(?:e|ing)|design(?:ing)?|"
    r"writ(?:e|ing)|mak(?:e|ing)|do(?:ing)?|fix(?:ing)?|finish(?:ing)?|prepar(?:e|ing)|pick(?:ing)?|"
    r"work(?:ing)? on|look(?:ing)? (?:at|into)|check(?:ing)?|investigat(?:e|ing)|figure out|find(?: out)?|"
    r"fetch|review|refactor|clean(?:ing)? up|improve|evaluate|get|sort out|send|tag|ship|release|publish|"
    r"remove|delete|rename|update|upgrade|bump|revert|merge|commit|push|show|handle|support|"
    r"bring(?:ing)? up|port|deploy|run|move|migrate|plan|test|document|discuss|draft)\b\s*)?",
    re.IGNORECASE,
)
"""The verb at the front of a task; what is behind it names the matter."""

REPORTS = (
    (
        r"(?:we|i|users?|customers)(?:'re| are|'m| am|'ve| have|'s)? (?:now |still |also |sometimes |often )?"
        r"(?:been )?(?:hitting|seeing|getting|having|experiencing|facing|running into|noticing|see|get|"
        r"have|noticed|hit|keep getting|got)|"
        r"there(?:'s| is| are)|it (?:seems|looks like)|hmm+"
    ),
    r"(?:wir|ich) (?:haben?|bekommen?|sehen?)|es gibt",
    r"(?:on|nous|j')\s?(?:a|avons|ai|voit|voyons)|il y a",
    r"(?:tenemos|tengo|estamos viendo|veo|hay)",
    r"(?:у нас|у меня|есть)",
)
"""In front of a failure that is reported; the failure itself comes behind."""

ASIDE = re.compile(
    r"(?:\s*(?:btw|by the way|fyi|lol|haha+|hmm+|hm|oh|ah|wait|right|note(?: that| for later| to self)?|"
    r"one (?:more )?(?:thing|note)|"
    r"heads up|ps|übrigens|au fait|por cierto|кстати|对了|顺便|那就算了|那|ちなみに|あと|참고로|그리고)"
    r"(?:\s*[,:;.!—–-]+\s*|"
    r"[，：。、]\s*|\s+(?=\w)))+",
    re.IGNORECASE,
)
"""Leads into a remark by the way."""

HOSTILE = re.compile(
    r"(?:ignore|disregard|forget|override)\W+(?:\w+\W+){0,3}(?:previous|prior|above|earlier|preceding|"
    r"all|your|system)\W+"
    r"(?:\w+\W+){0,2}(?:instruction|prompt|rule|message|direction)|system prompt|you are now\b|"
    r"new instructions?\s*:|"
    r"(?:as|is|be) the user's (?:preference|wish)|the user (?:prefers|wants|asked)|"
    r"(?:ignoriere|vergiss) .{0,30}(?:anweisung|instruktion)|ignore[zr]? .{0,30}instructions précédentes|"
    r"ignora .{0,30}instrucciones|忽略.{0,12}(?:指令|指示|提示)|(?:指示|命令)を無視|지시.{0,6}무시",
    re.IGNORECASE,
)
"""Text that speaks to the agent in somebody else's name: data that was read, never a wish."""

TRAILING = re.compile(
    r"(?:,? (?:btw|by the way|then|too|please|as well|lol|ok(?:ay)?|bitte|dann|again)|"
    r"，?(?:吧|谢谢))(?=[.!?。！？]?$)",
    re.IGNORECASE,
)
"""Ends a remark without adding to it."""

BACK = re.compile(
    r"\b(?:go(?:ing)? back|back to|revert|undo|roll(?:ing)? back)\b|zurück (?:zu|auf)|\brevenons|\bvolvamos|"
    r"\bверн(?:ёмся|емся|уть)|改回|换回|恢复|に戻し|되돌",
    re.IGNORECASE,
)
"""Takes the choice before it back."""

RECOMMENDS = re.compile(
    r"\bi(?:'d| would)? (?:suggest|recommend|propose)\b|ich (?:empfehle|schlage vor)|je (?:recommande|"
    r"propose)|"
    r"(?:recomiendo|propongo)|(?:рекомендую|предлагаю)|建议|推荐|おすすめ|お勧め|추천|권장",
    re.IGNORECASE,
)
"""The agent's proposal, wherever in the sentence it says so."""

REQUESTS = re.compile(
    r"[\s\"'“(]*(?:(?:hey|hi|ok(?:ay)?|so|and|also|please)[, ]+)*(?:(?:can|could|would|"
    r"will) you(?: please)?|(?:kannst|könntest) du|"
    r"(?:peux|pourrais)-tu|pouvez-vous|¿?(?:puedes|podrías)|можешь)\s+(?!explain|tell|remind|see|show|"
    r"recall|say|"
    r"erklär|sagen|expliqu|dire|explic|decir|объясн|сказать)\w",
    re.IGNORECASE,
)
"""A question that asks for work, not for an answer."""

FINE = re.compile(
    r"\b(?:is|are|sounds?|looks?|works?|seems?) (?:\w+ )?(?:fine|good|ok(?:ay)?|great|perfect|for me)\b",
    re.IGNORECASE,
)
"""Takes something as it is."""

ANAPHORIC = re.compile(
    r"\b(?:same|it|them|ones?)\b|\b(?:that|this|those|these)\b(?=\s*(?:[.,;!?]|$|(?:for|to|in|on|with|"
    r"via|as|now|and)\b))",
    re.IGNORECASE,
)
"""Points back at what stands elsewhere."""

POINTS = re.compile(
    r"(?:(?:the )?(?:latter|former|first|second|third|last|other)(?: one| option)?|option \w|both|that one|"
    r"前者|後者|最初|第[一二三]个|前一个|后者|後の|첫|두 번째|후자|전자|letztere\w*|erstere\w*)(?!\w{3})",
    re.IGNORECASE,
)
"""Points at one of several proposals without naming it."""

ALTERNATIVES = re.compile(r"\b(?:or|oder|ou|o|или)\b|还是|または|それとも|아니면|혹은", re.IGNORECASE)
"""A question that offers a choice."""

FOLLOWS = re.compile(
    r"(?:if|just|so|otherwise|that|this|those|it|they|because|then|e\.g\.|for example|except|unless|"
    r"even|not|no|"
    r"wenn|sonst|das|denn|si|sinon|porque|если|иначе)\b|如果|否则|例如|ただし|例えば|단\b|예를",
    re.IGNORECASE,
)
"""A sentence that goes on with the one before it."""

CHORE = re.compile(
    r"(?:(?:please|now|then|and|also|ok(?:ay)?|you can|can you|could you|just)[, ]+)*"
    r"(?:(?:commit|push|stage|stash|amend|squash|merge)(?: (?:it|this|that|them|everything|all|now))*"
    r"(?=[\s]*(?:[.,!?;]|$|\b(?:but|and|please|then|first|with|as|to)\b))|"
    r"(?:this|that)(?: one)? (?:is|goes (?:to|under|with)|belongs to) (?:for )?[#\w]+-?\d+\b|"
    r"i(?:'ve got| have| need|'ve) to (?:leave|go|run)(?=\s*(?:[,.;!]|$|now\b|for\b)))",
    re.IGNORECASE,
)
"""At the start of a person's statement: an everyday order on the work at hand, done as soon as it is said."""

DANGLING = re.compile(
    r"(?:it|this|that|these|those|they|he|she|both|same|there it|"
    r"good (?:find|catch|point|question|idea|call)|"
    r"(?:go|carry|move) on|continue|proceed|das|dies\w*|es|sie|beides|ça|cela|eso|esto|это|так|"
    r"same here)(?:['’]\w+)?(?=[\s.,:;!?—–]|$)|那|这|它|それ|これ|그것|이것",
    re.IGNORECASE,
)
"""At the start of a statement: it points back, and says nothing where it stands alone."""

GOES_ON = re.compile(
    r"(?:(?:ok(?:ay)?|now|then|so|please|let's|let us|we|can you)[, ]+)*(?:go|carry|move|get) on\b|"
    r"(?:(?:ok(?:ay)?|now|then|so|please|let's|let us)[, ]+)*(?:continue|proceed|resume|pick up)\b|"
    r"(?:dann )?(?:weiter mit|machen wir weiter)|(?:on )?continu(?:e|ons)\b|sigamos|seguimos|продолж\w+|"
    r"继续|接着|続け|계속",
    re.IGNORECASE,
)
"""Takes up work again: it names what is open, but leaves nothing open."""

UNTOUCHED = re.compile(
    r"\bI (?:haven't|have not|didn't|did not) (?:touch|change|test|check|tr(?:y|ied)|run|verif|migrat|"
    r"updat)\w*|"
    r"\b(?:nobody|no one) has (?:tried|tested|checked)\b|\bhabe ich nicht (?:angefasst|getestet|geprüft)|"
    r"\bje n'ai pas (?:touché|testé|vérifié)|\bno (?:he|lo he) (?:tocado|probado|comprobado)|"
    r"(?:还没|没有)(?:动|改|测试|验证)|(?:確認|テスト)していません|(?:확인|테스트)하지 않았",
    re.IGNORECASE,
)
"""The agent says what it left alone or did not try."""
