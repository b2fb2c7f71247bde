"""Words that tell what a sentence is: the cue tables of the summary that needs no model.

One row a language, in the order English, German, French, Spanish, Russian, Chinese, Japanese,
Korean. A row is a regular expression's alternatives; a table is compiled on first use. Latin and Cyrillic rows
match whole words, unspaced scripts match anywhere. A missing cue costs a weaker label, one too many
a wrong one, so the rows stay short and general.
"""

from __future__ import annotations

import re
from functools import cache

Table = tuple[str, ...]

SAID_WRONG = (
    r"no[,.:—–-]|nope|actually|that's (?:wrong|not)|that is (?:wrong|not)|not what i|i (?:said|meant)|wrong\b|"
    r"don't (?:do|use)|stop \w+ing|revert|roll (?:it|that|this) back|undo (?:it|that|this)|instead[,.]?\b",
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
    r"instead of|rather than|not \S+ anymore|no longer|replac\w+|switch\w* (?:from|to)|mov\w+ away from|"
    r"migrat\w+ (?:from|off)|drop(?:ped|ping)?|ditch\w*|get rid of|was (?:wrong|outdated)|renam\w+",
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
    r"always|never|prefer\w*|i (?:really )?(?:like|love|hate|dislike)|i don't like|i'd rather|from now on|"
    r"as a rule|my (?:style|habit|convention|preference)s?|favou?rite|keep (?:your |the )?"
    r"(?:responses?|answers?|replies|messages?|commits?)|please don't|remember (?:that|to)|keep (?:that|this|it) in mind|"
    r"in (?:all|every) (?:my )?projects?|for future",
    r"immer|niemals|nie\b|bevorzuge\w*|lieber|ich mag|ab jetzt|künftig|grundsätzlich|merk dir",
    r"toujours|jamais|je préfère|j'aime|dorénavant|désormais|souviens-toi",
    r"siempre|nunca|prefiero|me gusta|de ahora en adelante|a partir de ahora|recuerda que",
    r"всегда|никогда|предпочита\w+|мне нравится|впредь|отныне|запомни",
    r"总是|一直用|永远|从不|绝不|我喜欢|我更喜欢|偏好|习惯|以后都|今后|记住",
    r"いつも|常に|絶対に|決して|好みは|好き|のほうがいい|今後は|これからは|覚えておいて",
    r"항상|언제나|절대|선호|좋아해|좋아합니다|앞으로는|기억해",
)
"""How the person wants things done, whatever the task."""

WISHES = (
    r"(?:my|few|some|other|more|coding|personal|working|general) preferences?\b|how i (?:like|want) to work|"
    r"things about how i|(?:ground|house|working) rules|my (?:style|workflow|conventions)",
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
    r"must(?:n't)?|has to|have to|cannot|can't|not allowed|forbidden|required?|requirement|at most|at least|"
    r"no more than|no (?:longer|later) than|deadline|only (?:if|when|on|with)|needs? to (?:stay|keep|remain|support)|"
    r"under \d|within \d|shouldn't|should not|make sure|ensure",
    r"muss|müssen|darf nicht|dürfen nicht|mindestens|höchstens|nur wenn|verboten|erforderlich|sicherstellen",
    r"doit|doivent|ne (?:doit|peut) pas|au (?:plus|moins)|obligatoire|interdit|il faut",
    r"debe|deben|tiene que|no puede|no debe|como máximo|al menos|obligatorio|prohibido|hay que",
    r"должн\w+|нельзя|обязательно|не более|не менее|запрещено|требует\w*",
    r"必须|不能|不得|不允许|禁止|至少|最多|务必|只能|要求",
    r"必須|しなければ|なければならない|てはいけない|できません|以上|以下|以内|必ず|禁止",
    r"반드시|해야 (?:한다|합니다|해|함)|하면 안|최소|최대|필수|금지",
)
"""A limit that the work has to keep."""

DECISION = (
    r"let's|let us|we(?:'ll| will| should)|i(?:'d| would) like to|i want|i(?:'d| would) go with|we want|we need|i need|"
    r"decid\w+|decision|go(?:ing)? with|went with|cho[os]se\w*|chosen|settled? on|agreed?|use\b|using\b|adopt\w*|"
    r"switch\w*|migrat\w+|mov(?:e|ing) to|stick(?:ing)? with|opt(?:ed)? for|plan is|pick(?:ed)?|start(?:ing)? with|"
    r"implement|set (?:it )?up|add\b|build\b|drop\b|keep\b|remove\b|separate\b",
    r"wir (?:nehmen|nutzen|verwenden|machen|wollen|sollten)|lass uns|entschieden|entscheid\w+|"
    r"ich will|ich möchte|verwende\w*|nimm|benutze\w*|nutze\w*|setzen auf|einigen",
    r"on (?:va|utilise|prend|part)|nous (?:utilis\w+|allons|avons choisi)|décid\w+|décision|choisi\w*|je (?:veux|voudrais)|"
    r"utilis(?:e|ons|er|ez)|adopt\w+|passons",
    r"vamos a|usemos|usaremos|usar|usamos|decid\w+|decisión|elegi\w+|quiero|quisiera|queremos|optamos|adopt\w+",
    r"давай\w*|будем|реш\w+|решение|выбра\w+|использ\w+|хочу|хотим|нужно|перейд\w+|остановились",
    r"我们(?:用|使用|决定|采用|选)|决定|采用|选择|选用|使用|就用|用\b|我想|我要|我们要|我们需要|需要|统一|改用|定了",
    r"にしましょう|にしよう|に決め|決定|採用|使いましょう|使おう|使います|を使|したい|することに|でいきましょう|に統一",
    r"하자|합시다|하기로|결정|채택|선택|사용하|쓰자|쓰기로|사용합니다|원해|싶어|싶습니다",
)
"""A choice for the work at hand."""

REASON = (
    r"because|since|so that|due to|the reason|reasons?:|as it|in order to|which (?:means|lets|avoids|prevents)|"
    r"this (?:means|prevents|avoids|lets|limits|ensures|way)|to avoid|prevents?|avoids?",
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
    r"errors?|exceptions?|fail\w*|broken|breaks?|crash\w*|time(?:d)?[ -]?outs?|slow\w*|bugs?|doesn't work|not working|"
    r"don't work|does not|isn't|wrong|hang(?:s|ing)|leak\w*|duplicat\w+|stuck|flaky|missing|corrupt\w*|regress\w+|"
    r"throws?|threw|refus\w+|denied|panic\w*|deadlock\w*|race condition|5\d\ds?|40[0-9]s?|problem|issues?|incorrect\w*|"
    r"unexpected\w*|degrad\w+|overload\w*|out of memory|oom|spik\w+|lost|losing|huge",
    r"fehler\w*|schlägt fehl|fehlgeschlagen|kaputt|absturz|stürzt|langsam|hängt|geht nicht|funktioniert nicht|problem\w*|falsch",
    r"erreurs?|échou\w+|échec|plante\w*|lente?s?|bloqu\w+|ne (?:marche|fonctionne) pas|problèmes?|cassée?",
    r"errores|error|falla\w*|fallo|lent[oa]s?|no funciona|se cuelga|roto|problemas?|excepción",
    r"ошибк\w+|падает|упал\w*|не работает|сломал\w*|медленн\w+|завис\w+|проблем\w+|сбой",
    r"报错|错误|失败|异常|崩溃|超时|很慢|太慢|卡住|不工作|无法|有问题|问题|泄漏|丢失",
    r"エラー|失敗|例外|落ち(?:る|ます|た)|クラッシュ|遅い|動かない|動きません|タイムアウト|バグ|不具合|問題",
    r"오류|에러|실패|예외|느려|느립|안 (?:돼|됩|되)|작동하지|멈춰|버그|문제|충돌",
)
"""Something went wrong."""

WORKED = (
    r"(?:that|this|it) (?:\w+ )?(?:fixed|worked|works|did (?:it|the trick)|solved|helped)|fixed (?:it|now)|works? now|working now|"
    r"no more|resolved|solved|confirmed|(?:is |are )?(?:now )?(?:passing|green)|tests? pass\w*|all pass\w*|down to|"
    r"back to normal|problem (?:is )?gone|gone now|good now|exactly (?:that|right|it)|went away|stopped (?:fail|crash|happen)\w*",
    r"(?:das )?hat (?:geholfen|funktioniert|geklappt)|funktioniert jetzt|behoben|gelöst|läuft jetzt|jetzt geht",
    r"ça (?:marche|fonctionne|a marché)|résolu\w*|corrigée?|réglé|c'est bon",
    r"(?:eso|ya) (?:lo )?(?:funcion\w+|arregl\w+|solucion\w+)|resuelto|arreglado|solucionado",
    r"помогло|заработал\w*|исправлен\w*|решен\w*|теперь работает|починил\w*",
    r"好了|解决了|修好了|可以了|成功了|正常了|搞定|生效了|没问题了",
    r"直りました|直った|動きました|動いた|解決しました|解決した|うまくいき|治りました|通りました",
    r"해결됐|해결되|해결했|고쳐졌|잘 (?:돼|됩|되|작동)|정상|됐어|됐습니다",
)
"""The remedy held."""

REMEDY = (
    r"fix(?:ed|es)?\b|the solution|solution:|root cause|caused? by|the cause|the problem (?:is|was)|the issue (?:is|was)|"
    r"the problem:|solved by|resolve[sd]?|workaround|patched|turns? out|key:|the trick",
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
    r"todo|next (?:steps?|session|time|week|up)|pending|blocked|blockers?|(?:do|for|until) later|remaining (?:work|tasks?|items?)|still (?:need|have|to do|open|missing)|"
    r"not (?:yet|done|started)|in progress|follow[- ]?up|tomorrow|unfinished|backlog|open (?:question|issue|point)s?|"
    r"to be (?:done|decided)|waiting (?:for|on)|left to do|planned|critical path",
    r"noch (?:offen|nicht|zu tun)|offen\w*|nächste\w*|später|morgen|ausstehend|blockiert|in arbeit|zu erledigen",
    r"à faire|reste|prochaine?|plus tard|demain|en (?:cours|attente)|bloqué|pas encore",
    r"pendientes?|próxim\w+|más tarde|mañana|en (?:curso|progreso)|bloquead\w+|falta\w*|todavía no|por hacer",
    r"осталось|следующ\w+|позже|завтра|в процессе|ожида\w+|заблокирован\w*|ещё не|пока не",
    r"待办|待处理|下一步|接下来|之后再|稍后|明天|进行中|未完成|还没|阻塞|尚未|待定",
    r"未完了|残り|次回|次は|後で|明日|進行中|保留|まだ|ブロック|今後の課題|予定",
    r"남은|다음에|다음 단계|나중에|내일|진행 중|보류|아직|미완료|예정|대기",
)
"""What is not done yet."""

UNSURE = (
    r"probably|maybe|perhaps|might|possibly|i (?:guess|think|suspect|assume)|my guess|not sure|unclear|seems?|likely|could be|"
    r"evaluate|consider\w*|whether|must verify|to verify|should verify|we'll see|hypothes\w+|presumably|wonder\w*|"
    r"what if|if we wanted|let's see if",
    r"vielleicht|wahrscheinlich|vermutlich|eventuell|könnte\w*|möglicherweise|unsicher|ob wir|ich glaube|prüfen,? ob",
    r"peut-être|probablement|sans doute|il se peut|pourrait|je (?:pense|crois)|pas sûr|évaluer",
    r"quizás?|tal vez|probablemente|posiblemente|podría|creo que|no (?:estoy )?segur\w+|evaluar si",
    r"возможно|вероятно|наверное|может быть|кажется|похоже|думаю|не уверен\w*|оценить|проверить, ",
    r"可能|也许|大概|或许|估计|似乎|好像|不确定|是否|考虑|评估",
    r"たぶん|多分|おそらく|かもしれ|でしょうか|だろう|と思い|と思う|かどうか|検討",
    r"아마|어쩌면|것 같|수도 있|일지도|확실하지|검토|고려|여부",
)
"""Said with doubt: it is never made a settled fact."""

AGREES = (
    r"yes|yeah|yep|yup|ok|okay|sure|good|great|perfect|nice|do it|go ahead|sounds good|looks good|agreed|approved?|"
    r"makes sense|exactly|right|let's do|lgtm|ship it|please do|works for me|fine|excellent|awesome|cool|love it",
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
    r"(?:should|shall) (?:i|we)|(?:do|would) you (?:want|like) (?:me|us) to|want me to|i (?:suggest|propose|recommend)|"
    r"i'd (?:suggest|recommend|propose)|how about|what about|my (?:suggestion|recommendation|proposal)(?: is)?:?|"
    r"we could|i could|i can",
    r"soll ich|sollen wir|ich (?:schlage|empfehle|würde)|möchtest du,? dass ich|mein vorschlag:?",
    r"dois-je|voulez-vous que je|veux-tu que je|je (?:propose|suggère|recommande)(?: de)?|et si on",
    r"¿?debería|¿?quieres que|propongo|sugiero|recomiendo|¿?qué tal si",
    r"(?:мне|стоит|нужно) ли|хотите,? чтобы я|предлагаю|рекомендую|может,? ",
    r"要不要|是否需要我|需要我|我建议|建议|推荐|要我",
    r"(?:しましょうか|提案|おすすめ|お勧め)",
    r"할까요|제안|추천|권장",
)
"""A proposal of the agent's, as a question or a suggestion."""

NARRATES = (
    r"let me|i'll (?:now |then |also |just )?(?:check|look|read|run|start|take|see|search|go|begin|continue|get|do|verify|keep)|"
    r"i will now|now (?:i'll|let me|i)|looking (?:at|into)|checking|reading|running|starting (?:with|on|by|now)|on it|"
    r"i'll [^,.;:]{3,40} now(?=\W|$)|i'm going to|going to (?:check|look|run)|working on it|ready when you are|anything else|hope (?:this|that) helps|"
    r"you're welcome|happy to|feel free|here (?:are|is|'s) (?:the|what|how|your)\b[^:]*$|i keep forgetting|pushed\b|that's (?:it|all)\b",
    r"ich (?:schaue|prüfe|sehe|lese|starte|beginne)|lass mich|schauen wir|gern geschehen|sonst noch",
    r"je (?:vais|regarde|vérifie|lance|commence)|laissez-moi|voyons|de rien|autre chose",
    r"voy a|déjame|vamos a ver|veamos|de nada|algo más|estoy (?:revisando|mirando)",
    r"сейчас (?:посмотрю|проверю|запущу)|давайте посмотрим|посмотрю|проверю|пожалуйста,? обращайтесь|что-нибудь ещё",
    r"让我|我来|我先|我这就|正在|稍等|还有什么|不客气",
    r"確認します|見てみます|調べます|実行します|始めます|どういたしまして|他に",
    r"확인해 ?보겠|살펴보|시작하겠|실행하겠|천만에|더 필요",
)
"""The agent's running commentary; it holds nothing to remember."""

ASKS = (
    r"what|why|how|when|where|which|who|whose|can (?:we|you|i)|could (?:we|you|i)|do (?:we|you|i)|does|did|is (?:it|there|this|that)|"
    r"are (?:we|there|you)|should (?:we|i)|would|will",
    r"was|warum|wie|wann|wo|welche\w*|wer|kann(?:st)?|können|gibt es|ist das|soll(?:en|te)?",
    r"quoi|pourquoi|comment|quand|où|quel\w*|qui|est-ce que|peut-on|pouvez-vous|faut-il",
    r"¿|qué|por qué|cómo|cuándo|dónde|cuál\w*|quién|puedes|podemos",
    r"что|почему|зачем|как|когда|где|какой|какая|какие|кто|можно ли|можешь",
    r"什么|为什么|怎么|如何|哪|谁|吗|呢|能不能|可不可以|几",
    r"何|なぜ|どう|いつ|どこ|どの|誰|ですか|ますか|でしょうか",
    r"뭐|무엇|왜|어떻게|언제|어디|어느|누가|인가요|까요|나요",
)
"""A question's first word, or anywhere in a script without spaces."""

STATUS = (
    r"status|where (?:are|were) we|where (?:is|are) (?:the|both|all|my)|progress|summary|recap|catch me up|left off|overview of where",
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
    r"ports?\b|localhost|env(?:ironment)? (?:vars?|variables?)|\.env|version|commands?|install\w*|runs? on|"
    r"python \d|node \d|credentials|config(?:uration)?|host(?:name)?|docker|directory|startup|locally",
    r"umgebungsvariable\w*|befehl\w*|installier\w*|läuft auf|verzeichnis|konfiguration",
    r"variables? d'environnement|commandes?|installe\w*|tourne sur|répertoire|configuration",
    r"variables? de entorno|comandos?|instala\w*|corre en|directorio|configuración",
    r"переменн\w+ окружения|команд\w+|установ\w+|порт\w*|каталог|конфигурац\w+",
    r"端口|环境变量|命令|安装|版本|目录|配置|运行在",
    r"ポート|環境変数|コマンド|インストール|バージョン|ディレクトリ|設定",
    r"포트|환경 ?변수|명령|설치|버전|디렉터리|설정",
)
"""Facts about the machine and the tools."""

LEADING = (
    r"good|great|perfect|nice|ok|okay|yes|yep|yeah|sure|done|noted|got it|thanks|thank you|right|cool|awesome|excellent|"
    r"understood|confirmed|exactly|absolutely|of course|agreed|looks good|sounds good|on it|will do|no problem|implemented|"
    r"added|fixed|updated|configured|perfect|makes sense|solid|clean|alright|well|so|now|and|also|then|but|hey|hi|hello|no",
    r"ja|gut|okay|super|perfekt|danke|genau|alles klar|erledigt|fertig|verstanden|also|und|nein",
    r"oui|bien|d'accord|parfait|merci|exact|c'est fait|compris|alors|et|non",
    r"sí|bien|vale|perfecto|gracias|exacto|listo|hecho|entendido|entonces|y|no",
    r"да|хорошо|отлично|спасибо|верно|готово|понял|итак|и|нет",
    r"好的?|可以|谢谢|对|没错|明白了?|收到|完成了?|是的|那么|不",
    r"はい|了解です?|ありがとうございます?|わかりました|完了しました|では|それでは|いいえ",
    r"네|예|좋아요?|좋습니다|감사합니다|알겠습니다|완료했습니다|그럼|아니요?",
)
"""Words before the first comma or stop that only acknowledge."""

TRIMMED = (
    r"i(?:'d| would) like (?:us |you )?to|i want (?:us |you )?to|i need (?:you )?to|we (?:need|want|have) to|let's|let us|"
    r"i'll|i will|we'll|we will|can you|could you|please|also|now|so|and|then|here(?:'s| is| are)|i also want",
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
    r"good|great|nice|solid|clean|excellent|perfect|smart|classic|common|huge|awesome|wonderful|lovely|interesting",
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
    r"(?:the )?(?:key (?:points?|details?|changes?|things?)|highlights?|summary|details?|notes?|in short|tl;dr|changes|"
    r"overview|(?:two|three|a few|several) (?:things|points|options|parts)|wichtige punkte|zusammenfassung|points clés|"
    r"résumé|puntos clave|resumen|ключевые моменты|итого|要点|关键点|总结|ポイント|要約|핵심|요약)\s*[:：]\s+",
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

FILLS = frozenset(
    "add added adding allow allows apply ask bring build built call called calls change changed changes check choose clean "
    "close configure consider create created cut decide define delete deploy design do done drop enable ensure extend "
    "figure find finish fix fixed focus follow format generate getting give handle handles happen happens help hit hitting "
    "hook implement improve include includes install integrate introduce investigate keep left limit look made manage mean "
    "means merge migrate move moved moving name notice open organize plan prefer prepare process produce propose provide "
    "pull push put read reduce refactor remember remove rename replace replaced report require requires resolve restart "
    "return returns revert review rewrite run running runs save scaffold see seeing seems send separate serve shows showing "
    "show ship solve sort split start started starting starts stop store stored support switch switched switching tell tests "
    "time track try trying turn update updated upgrade verify wait want wants wire work worked working works write wrote "
    "thing things lot bit way ways part parts kind case cases project code file files app application repo error errors "
    "issue issues problem problems bug bugs data value values user users everything something anything someone current new "
    "proper several first next last today tomorrow yesterday session quick final classic huge whole entire various few more "
    "better best big small old different same main simple full real great load design system setup key fact prod there "
    "einrichten bauen machen nutzen verwenden neu neue neuen ajouter utiliser faire nouveau nouvelle usar agregar hacer "
    "nuevo nueva добавить использовать сделать новый новая".split()
)
"""Words that say too little to name a subject by."""

LOST = re.compile(
    r"(?:(?<!\w)(?:instead of|rather than|(?<=[,;—–(] )not|statt|anstatt|au lieu d[eu]|plutôt qu[e']|en lugar de|en vez de|"
    r"вместо)\s+|而不是|代替|のではなく)\s*(?:the |a |an |old )*([^,.;:—–()，。；、]{2,50})",
    re.IGNORECASE,
)
"""What a choice was made against, as the first group."""

_SPACED = 5  # rows whose languages separate words


@cache
def anywhere(table: Table) -> re.Pattern[str]:
    """Compile a table to match anywhere in a sentence."""
    return re.compile(_alternatives(table), re.IGNORECASE)


@cache
def ahead(table: Table) -> re.Pattern[str]:
    """Compile a table to match at a sentence's start."""
    return re.compile(rf"[\s\"'“”‘’*_¡¿(-]*(?:{_alternatives(table)})", re.IGNORECASE)


@cache
def lead_in() -> re.Pattern[str]:
    """Compile what acknowledges at a statement's start, with the punctuation behind it."""
    words = rf"(?:{'|'.join(LEADING)})"
    return re.compile(rf"[\s\"'“‘*_]*{words}(?:[,.!:;，。！：；、]+\s*|\s+[—–-]+\s+|$)", re.IGNORECASE)


def _alternatives(table: Table) -> str:
    spaced = "|".join(row for row in table[:_SPACED] if row)
    unspaced = "|".join(row for row in table[_SPACED:] if row)
    return rf"(?<!\w)(?:{spaced})(?!\w)|(?:{unspaced})"
