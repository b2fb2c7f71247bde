"""Every failure a user can meet, as one exception each.

LaminaError                 exit 1, "failed"
├── UsageError              exit 2, the command was called wrongly
│   ├── UnknownLayer
│   ├── UnknownScope
│   ├── BadKey
│   ├── BadSetting
│   └── BadInput
├── Refused                 exit 3, a rule or a person must decide
│   ├── ForgottenContent
│   ├── ReadOnlyStore
│   ├── ChangedMeanwhile
│   ├── CapReached
│   └── Undecided
├── NoStore                 exit 1
├── NoEntry
├── NoSuchFile
├── UnreadableFile
├── UnwritableStore
├── UnsafePath
├── Busy
├── BadTranscript
├── GitFailed
├── EmbedderUnavailable
├── ModelFailed
├── VerificationFailed
├── CoreUnavailable         exit 4
└── NoModelAnswered

Raise with what happened, to which thing, and a `hint` that says the next step.
"""

from __future__ import annotations


class LaminaError(Exception):
    """A failure with a message for a person and a hint for the next step."""

    kind = "failed"
    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(LaminaError):
    """The command or the call was wrong; nothing was done."""

    kind = "usage"
    exit_code = 2


class UnknownLayer(UsageError):
    """No layer has this name."""

    kind = "unknown_layer"


class UnknownScope(UsageError):
    """The scope is neither `global` nor `workspace:<key>`."""

    kind = "unknown_scope"


class BadKey(UsageError):
    """A workspace key or an id is not of the allowed form."""

    kind = "bad_key"


class BadSetting(UsageError):
    """A setting is unknown or its value is not of its type."""

    kind = "bad_setting"


class BadInput(UsageError):
    """Input text or a file's content can't be used."""

    kind = "bad_input"


class Refused(LaminaError):
    """A rule forbids it, or a person must decide first."""

    kind = "refused"
    exit_code = 3


class ForgottenContent(Refused):
    """The same content was forgotten on purpose."""

    kind = "forgotten"


class ReadOnlyStore(Refused):
    """The store was written by a newer Lamina and is opened for reading only."""

    kind = "read_only"


class ChangedMeanwhile(Refused):
    """A file changed between reading and writing; nothing was overwritten."""

    kind = "changed_meanwhile"


class CapReached(Refused):
    """A day's cap on model calls or tokens is reached; the work waits."""

    kind = "cap_reached"


class NoStore(LaminaError):
    """There is no store at the root."""

    kind = "no_store"


class NoEntry(LaminaError):
    """No entry has this id."""

    kind = "no_entry"


class NoSuchFile(LaminaError):
    """A named file or folder does not exist."""

    kind = "no_file"


class UnreadableFile(LaminaError):
    """A file can't be read: permission, encoding, or not a plain file."""

    kind = "unreadable"


class UnwritableStore(LaminaError):
    """The disk refuses to take a write: full, read-only or not permitted."""

    kind = "unwritable"


class UnsafePath(LaminaError):
    """A symbolic link, a special file or a path that leaves the store."""

    kind = "unsafe_path"


class Busy(LaminaError):
    """Another process holds a lock for longer than we wait."""

    kind = "busy"


class BadTranscript(LaminaError):
    """A file is no transcript of any known host."""

    kind = "bad_transcript"


class GitFailed(LaminaError):
    """git ended with an error."""

    kind = "git_failed"


class EmbedderUnavailable(LaminaError):
    """The chosen embedder is unknown, not installed, or does not answer as it must."""

    kind = "embedder"


class ModelFailed(LaminaError):
    """One model could not be reached, refused, or sent nothing in time.

    `retry_after_s` is what the endpoint asked us to wait, None if it said nothing.
    """

    kind = "model_failed"

    def __init__(self, message: str, hint: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(message, hint)
        self.retry_after_s = retry_after_s


class NoModelAnswered(LaminaError):
    """No permitted model returned text; the work is kept and tried again later.

    `replied` says that at least one of them did answer, with nothing in it: that counts as an attempt. Where
    none could be reached it does not.
    """

    kind = "no_model_answered"

    def __init__(self, message: str, hint: str = "", *, replied: bool = False) -> None:
        super().__init__(message, hint)
        self.replied = replied


class Undecided(Refused):
    """A person must choose first; `choices` are the ways to go on, as one would type them."""

    kind = "undecided"

    def __init__(self, message: str, hint: str = "", *, choices: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint)
        self.choices = choices


class VerificationFailed(LaminaError):
    """What was written is not what should stand there; it was taken back as far as it was ours."""

    kind = "verification"


class CoreUnavailable(LaminaError):
    """The records of a semantic core are busy or damaged; `damaged` says which."""

    kind = "semantic_core"
    exit_code = 4

    def __init__(self, message: str, hint: str = "", *, damaged: bool = False) -> None:
        super().__init__(message, hint)
        self.damaged = damaged
