"""Tells what in a session is no material: injected context, wrappers, acknowledgements, openers.

The lists hold what was seen from real hosts and the everyday words of several languages; a
phrase that is missing here costs a little noise, one too many costs a fact, so they are short.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

SENTENCE_ENDS = (". ", ".\n", "! ", "!\n", "? ", "?\n", "。", "！", "？", "\n\n")

# Elements that hosts, hooks and memory programs put around what they inject into a person's turn.
_ELEMENTS = (
    "system-reminder", "system_reminder", "hook_context", "lamina-memory", "lamina-checkpoint",
    "environment_context", "user_instructions", "permissions instructions", "collaboration_mode",
    "skills_instructions", "apps_instructions", "plugins_instructions", "turn_aborted",
    "subagent_notification", "user_shell_command", "local-command-stdout", "local-command-stderr",
    "local-command-caveat", "command-name", "command-message", "command-args", "command-contents",
    "bash-input", "bash-stdout", "bash-stderr", "task-notification", "user-prompt-submit-hook",
    "session-start-hook", "ide_selection", "ide_opened_file", "ide_diagnostics", "user-memory-input",
    "qwen:session-start-context", "qwen:user-prompt-submit-context", "untrusted_context",
    "available_skills", "available_agents", "skill",
    "memory-context", "claude-mem-context", "relevant-memories",
    "supermemory-context", "mem0-context", "function_results", "function_calls", "tool_use_error",
    "agent-notification", "new-diagnostics", "session-context", "runtime-context", "policy-notice",
)  # fmt: skip

# A person's turn that starts like this was written by the host altogether.
_HOST_STARTS = (
    "# AGENTS.md instructions", "# CLAUDE.md instructions", "Caveat: The messages below were generated",
    "This session is being continued from a previous conversation", "[Request interrupted by user",
    "Stop hook feedback:", "## DSH memory context", "## Lamina memory", "# Lamina memory", "<lamina",
    "Base directory for this skill:", "## Runtime snapshot", "## Available skills", "## Skill catalog",
    "[SYSTEM NOTIFICATION", "API Error:", "Unknown slash command", "Unknown skill:", "No response requested.",
    "Your tool call was malformed", "[Tool use interrupted]", "This is the git status at the start",
    "<context_window", "Continue from where you left off.",
)  # fmt: skip


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_YES = _words(
    "ok okay okey k y yes yep yeah yup sure please go ahead do it that this proceed continue lgtm fine good "
    "great perfect right correct exactly nice cool awesome excellent alright "
    "agreed agree approved approve yess "
    "works ship sounds looks all is well "
    "ja jo genau passt gut super klar gerne bitte mach weiter einverstanden stimmt prima "
    "oui ouais parfait daccord d'accord continue vas-y vas y bien sûr "
    "sí si vale perfecto sigue claro adelante bueno dale correcto "
    "sim beleza certo isso perfeito pode continuar seguir "
    "sì va bene perfetto certo avanti "
    "да ок окей хорошо давай продолжай верно отлично ага конечно "
    "tak dobrze dobra świetnie evet tamam olur kyllä joo jaa japp visst bra så "
    "نعم تمام حسنا हाँ हां ठीक है ครับ ค่ะ ได้ โอเค ได้ครับ ได้ค่ะ vâng được "
    "好 好的 可以 行 是 是的 对 对的 继续 没问题 嗯 嗯嗯 "
    "没错 同意 好吧 好啊 请继续 繼續 沒問題 對 "
    "はい うん ええ お願いします おねがいします "
    "続けて 続けてください 了解 了解です それで 大丈夫 いいね いいです オーケー "
    "네 예 응 좋아 좋아요 좋습니다 계속 계속해 계속해줘 알겠습니다 그래 맞아 맞아요"
)
_OTHER = _words(
    "no nope nah n not now thanks thank you thx ty cheers hi hello hey hallo yo test ping pong next keep "
    "going "
    "done again retry stop wait hm hmm um uh oh ah lol wow much so very the a and "
    "bye goodbye morning "
    "nein danke dankeschön vielen dank hallo moin non merci beaucoup bonjour salut no gracias hola "
    "não nao obrigado obrigada olá grazie ciao нет спасибо привет nie dzięki hayır teşekkürler sağol merhaba "
    "لا شكرا مرحبا नहीं धन्यवाद ขอบคุณ ไม่ สวัสดี không cảm ơn "
    "谢谢 多谢 不 不用 不要 收到 明白 知道了 你好 谢谢你 辛苦了 謝謝 "
    "ありがとう ありがとうございます いいえ わかりました 分かりました こんにちは 承知しました "
    "감사합니다 고마워 고맙습니다 아니 아니요 안녕하세요 안녕"
)
# Scripts whose vowel signs are no letters to a word pattern.
_WHOLE = _words("ขอบคุณ ขอบคุณครับ ขอบคุณค่ะ โอเคครับ ได้ครับ ได้ค่ะ ครับ ค่ะ สวัสดีครับ ठीक धन्यवाद हाँ")
_NO = _words(
    "no nope nah not n nein non não nao нет nie hayır لا नहीं ไม่ không 不 不用 不要 "
    "いいえ 아니 아니요 stop wait"
)

_VERBS = (
    "check|look|read|run|see|start|search|find|examine|inspect|take|explore|verify|open|view|review|update|fix|create|"
    "add|write|implement|make|test|continue|do|try|begin|grep|list|get|also|now|first|next|understand|investigate|"
    "help|go|trace|dig|confirm|apply|commit|build|re-?run|figure|gather|analyze|analyse|rerun|edit|locate|proceed|show"
)
_INTENT = re.compile(
    r"(?:(?:ok|okay|now|next|first|great|good|perfect|sure|alright|then|so|and)[,:!. ]+)*"
    r"(?:let me|let's|let us|i'll|i will|i'm going to|i am going to|i'm now|i need to|"
    r"now,? i(?:'ll| will)?)\s+"
    r"(?:now |just |quickly |first |then |also |start by |begin by )*(?:" + _VERBS + r")\w*\b",
    re.IGNORECASE,
)
_GERUND = re.compile(
    r"(?:now )?(?:checking|looking|reading|running|searching|starting|updating|fixing|working|testing|"
    r"inspecting|opening|verifying|reviewing|continuing|investigating|exploring|analy[sz]ing)\b",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"(?:(?:the |your |my |all )?(?:\w+ ){0,3}(?:is |are |was |has been |have been )?(?:now )?"
    r"(?:complete|completed|done|finished|successful|ready)"
    r"|(?:ok|okay|sure|great|perfect|excellent|got it|understood|alright|all right|certainly|of course|"
    r"absolutely|good|nice|awesome|wonderful|no problem|you're welcome|you are right|"
    r"you're (?:absolutely )?right|"
    r"good (?:call|question|point|catch|idea)|"
    r"great (?:question|idea|point)|makes sense|thanks?(?: you)?|sorry|hi|hello|hey|pong)(?: there)?)"
    r"\s*[.!,:…]*$",
    re.IGNORECASE,
)
_FOREIGN = re.compile(
    r"(?:好的|好|明白了?|收到|当然|没问题|完成了?|已完成|分析完成|搞定了?|"
    r"让我(?:先|来)?(?:看|查|检|读|运行|试|确认|分析)|我(?:先|来|将|会)(?:看|查|检|读|运行|试|确认|分析)"
    r"|了解(?:しました|です)?|承知しました|わかりました|分かりました|完了(?:しました|です)?|はい|確認します|調べます"
    r"|알겠습니다|네|완료(?:했습니다|되었습니다)?|확인(?:해 ?보겠습니다|하겠습니다)"
    r"|fertig|erledigt|alles klar|verstanden|gut|gerne"
    r"|(?:ich (?:schaue|prüfe|sehe|lese|starte|werde)|lass mich|schauen wir)\b"
    r"|terminé|c'est fait|d'accord|bien sûr|très bien|parfait"
    r"|(?:je (?:vais|vérifie|regarde|lance)|laissez-moi|voyons)\b"
    r"|listo|hecho|entendido|de acuerdo|perfecto|claro|(?:voy a|déjame|vamos a|veamos)\b"
    r"|pronto|feito|entendi|(?:vou|deixe-me|vamos)\b|fatto|capito|(?:vado a|fammi|vediamo)\b"
    r"|готово|понял|хорошо|конечно|отлично|(?:сейчас|давайте|посмотрю|проверю)(?=\W))",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|instead|rather|since|decid\w+|prefer\w*|never|always|must|weil|statt|parce|plutôt|porque|"
    r"en lugar|poiché|потому|вместо)\b|因为|而不是|改用|ので|ため|대신|때문",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?:…]+(?=\s|$)|[。！？]+|\n")
_ANSI = re.compile(r"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u200b\u2060\ufeff\ud800-\udfff]")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_TELLING = re.compile(
    r"error|exception|fail|fatal|denied|refused|not found|no such|cannot|can't|unable|undefined|unexpected|"
    r"timed out|missing|invalid|panic|错误|失败|エラー|失敗|오류|실패|fehler|erreur|ошибка",
    re.IGNORECASE,
)
_MEMORY = re.compile(
    r"(?:^|/)\.(?:(?:claude|qwen)/projects/[^/]+/memory|qwen/memories|codex/memories|gemini/memory"
    r"|lamina|dsh-memory)(?:/|$)"
)


def without_injected(text: str) -> str:
    """Drop what a host, a hook or a memory program put into the text; linear in its length."""
    head = text.lstrip("\ufeff \t\r\n")
    if "<" in text:
        text = _without_elements(text)
        head = text.lstrip("\ufeff \t\r\n")
    return "" if head.startswith(_HOST_STARTS) else text


@cache
def _opening() -> re.Pattern[str]:
    return re.compile("<(" + "|".join(map(re.escape, _ELEMENTS)) + r")(?=[\s>/])[^<>]{0,300}>", re.IGNORECASE)


def _without_elements(text: str) -> str:
    """Cut known elements; one that is not closed takes the rest, as it was cut off by a limit."""
    kept: list[str] = []
    start = 0
    lowered = ""
    closed: dict[str, bool] = {}
    while (mark := _opening().search(text, start)) is not None:
        name = mark[1].lower()
        lowered = lowered or text.lower()
        if mark[0].endswith("/>"):
            end = mark.end()
        else:
            found = lowered.find(f"</{name}>", mark.end()) if closed.get(name, True) else -1
            closed[name] = found >= 0
            end = found + len(name) + 3 if found >= 0 else len(text)
        kept.append(text[start : mark.start()])
        start = end
    kept.append(text[start:])
    return "".join(kept)


def tidy(text: str) -> str:
    """Drop control sequences, collapse spaces inside lines and blank lines to one."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    text = _CONTROL.sub("", text.replace("\r\n", "\n"))
    lines = [" ".join(line.split()) for line in text.split("\n")]
    kept = [line for index, line in enumerate(lines) if line or (index and lines[index - 1])]
    return "\n".join(kept).strip()


def joins(char: str) -> bool:
    """Say whether a text must not be cut before this character."""
    return char in "\u200d\ufe0f" or unicodedata.combining(char) != 0 or 0x1F3FB <= ord(char) <= 0x1F3FF


def is_acknowledgement(text: str) -> bool:
    """Say whether a person's turn is only a yes, a no, a greeting or thanks, in any listed language."""
    words = _WORD.findall(text.casefold()) if len(text) <= 60 else ["long"]
    if any(char.isdigit() for char in text):
        return False
    if text.casefold().strip(" .!。！~") in _WHOLE:
        return True
    return len(words) <= 6 and all(word in _YES or word in _OTHER for word in words)


def agrees(text: str) -> bool:
    """Say whether an acknowledgement is a yes."""
    words = set(_WORD.findall(text.casefold()))
    return bool(words & _YES) and not words & _NO


def without_openers(text: str) -> str:
    """Drop bare status lines and announcements from the head of what a model wrote.

    "Analysis complete." says nothing, what follows it does; a sentence that gives a reason
    stays, whatever it begins with.
    """
    while text:
        end = _SENTENCE.search(text)
        first = text[: end.end()] if end else text
        if _leads_list(text, len(first)) or len(first) > 200 or not _opens(first.strip(" *_#`>-✅✓🎉👍\n\t")):
            return text
        text = text[len(first) :].lstrip(" \n\t*_")
    return text


def _leads_list(text: str, end: int) -> bool:
    """Say whether the words up to `end` are the head of a list: "Done:" above items tells what they are."""
    head, rest = text[:end].rstrip(" *_\n"), text[end:].lstrip(" *_")
    return head.endswith((":", "：")) and rest.lstrip("\n")[:2] in {"- ", "* ", "• ", "1."}


def _opens(sentence: str) -> bool:
    if not _WORD.search(sentence):
        return True
    if _REASON.search(sentence):
        return False
    if _STATUS.fullmatch(sentence) and len(sentence) <= 80:
        return True
    if _INTENT.match(sentence) or (_GERUND.match(sentence) and len(sentence) <= 80):
        return True
    return len(sentence) <= 60 and _FOREIGN.match(sentence) is not None


_COUNTS = re.compile(
    r"\d+ (?:failed|passed|failures?|errors?|warnings?|tests?|problems?|deselected|skipped)\b|test result:|"
    r"(?:error: )?(?:could not compile|aborting due to|process completed|command failed|exited? with)|"
    r"make(?:\[\d+\])?: \*\*\*|failed:? +\S+::|fail(?:ed)?\s+\S+(?: [\d.]+s)?$|"
    r"npm err! (?:code|errno|path)|\S+:\d+: \w+$",
    re.IGNORECASE,
)
_MESSAGE = re.compile(
    r"(?:\w(?:Error|Exception|Warning|Interrupt)|\b(?:error|fatal|panicked)\b[^:]{0,40}|"
    r"\berror\[\w+\])\)?: +\S",
    re.IGNORECASE,
)
_DIAGNOSTIC = re.compile(r"(?:\S+: )?error\b(?:\[\w+\])?[: ]")


def error_tail(text: str) -> str:
    """Give the telling line of a failed output: an error's message, else the last line that names an error.

    Of several messages an interpreter's last one tells, a compiler's first; counters tell nothing.
    """
    lines = [line for line in text.split("\n")[-80:] if line.strip("-=+*~ .^│|")]
    telling = [line for line in lines if _TELLING.search(line[:500])]
    plain = [line for line in telling if not _COUNTS.search(line[:500])]
    named = [line for line in plain if _MESSAGE.search(line[:500])]
    if named and _DIAGNOSTIC.match(named[0]) and _DIAGNOSTIC.match(named[-1]):
        return named[0][:2000]
    return (named or plain or telling or lines or [""])[-1][:2000]


_WRAPPERS = _words("sudo env time npx uv uvx poetry pnpm bunx yarn npm python python3 run exec -m cd")


_STARTERS = _words("sudo env time npx uv uvx poetry python python3 run exec -m")


def command_head(tool: str, command: str) -> str:
    """Name the program that a call ran, for telling whether a later call is the same try again."""
    last = command.rsplit("&&", 1)[-1].split(";", 1)[0]
    words = [word for word in last.split() if "=" not in word]
    named: list[str] = []
    for word in words[:6]:
        named.append(word.rsplit("/", 1)[-1])
        if word not in _WRAPPERS:
            named += [next_ for next_ in words[words.index(word) + 1 :][:1] if next_.isalpha()]
            break
    return f"{tool}:{' '.join(named)}"


def program(command: str) -> str:
    """Name the program of a command with its subcommand, without what only starts it."""
    words = command.rsplit("&&", 1)[-1].split()
    while len(words) > 1 and (words[0] in _STARTERS or "=" in words[0]):
        words = words[1:]
    return " ".join(words[:2] if len(words) > 1 and words[1].isalpha() else words[:1])


def is_memory_path(path: str, hidden: tuple[str, ...] = ()) -> bool:
    """Say whether a path lies in a memory of a host, of another program, or in a hidden folder."""
    plain = path.replace("\\", "/")
    inside = (plain == folder or plain.startswith(f"{folder}/") for folder in hidden if folder)
    return any(inside) or _MEMORY.search(plain) is not None
