"""Every failure a caller may meet, as one tree.

    RedraftError
    ├── Refused              the request cannot be done as asked; nothing was written
    │   ├── Stale            the document is no longer what the caller read
    │   ├── Forbidden        a path, a mode or a rule says no
    │   └── ConfirmationRequired  a person has to agree first
    ├── Busy                 another process holds the folder; try again
    └── Damaged              stored state cannot be read; documents are untouched

A leaf is named by its `code`, which is stable and part of the interface. `CODES` says, for each code, what every
surface does with it: the HTTP status, the exit status, whether a model may go on, and what it is told to do next.
Outcomes that are not failures (a merge's conflicts, a rollback's conflicting hunks) are values, not exceptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

ErrorCode = Literal[
    "version_mismatch",
    "conflict",
    "anchor_not_found",
    "anchor_ambiguous",
    "already_exists",
    "title_exists",
    "drops_text",
    "confirmation_required",
    "cannot_ask",
    "editor_unavailable",
    "embeddings_unavailable",
    "content_required",
    "invalid_line_range",
    "invalid_argument",
    "invalid_patch",
    "invalid_regex",
    "invalid_text",
    "invalid_path",
    "invalid_settings",
    "too_large",
    "limit_exceeded",
    "unknown_tool",
    "not_found",
    "folder_not_found",
    "invalid_tab_id",
    "turn_not_found",
    "hunk_not_found",
    "unsupported_file_type",
    "forbidden_path",
    "permission_denied",
    "outside_folder",
    "secret",
    "unauthenticated",
    "not_allowed",
    "mode_refuses",
    "turn_closed",
    "nothing_to_undo",
    "model_auth",
    "model_busy",
    "model_timeout",
    "model_unreachable",
    "model_unavailable",
    "model_bad_request",
    "model_context_full",
    "model_output_cut_off",
    "model_output_invalid",
    "subagent_failed",
    "agent_failed",
    "agent_signed_out",
    "program_missing",
    "export_failed",
    "cancelled",
    "outcome_unknown",
    "locked",
    "busy",
    "io_error",
    "history_lost",
    "state_damaged",
]


@dataclass(frozen=True, slots=True)
class Code:
    """What the surfaces do with one error code."""

    http: int
    exit: int
    recoverable: bool
    advice: str


# Exit statuses: 1 a conflict or a refusal that the caller can resolve, 2 a wrong call, 3 not allowed, 4 not found,
# 5 the machine (disk, lock, damaged state).
CODES: dict[ErrorCode, Code] = {
    "version_mismatch": Code(409, 1, True, "Read the document again and repeat the edit with its new version."),
    "conflict": Code(409, 1, True, "Read the current content, resolve the conflicts named, and try again."),
    "anchor_not_found": Code(409, 1, True, "Read the document and quote a passage that is there."),
    "anchor_ambiguous": Code(409, 1, True, "Quote a longer passage, one that occurs once."),
    "already_exists": Code(409, 1, True, "Choose another name, or edit the existing document."),
    "title_exists": Code(409, 1, True, "Choose another title, or edit the existing document."),
    "drops_text": Code(409, 1, True, "Send the whole text, or set allow_shrink if most of it should go."),
    "confirmation_required": Code(403, 3, True, "Ask the person, then repeat the call with their consent."),
    "cannot_ask": Code(409, 1, True, "Put the question into your answer, or continue without it."),
    "editor_unavailable": Code(
        503, 5, True, "Try again; if it still does not answer, ask the person to reload that page."
    ),
    "embeddings_unavailable": Code(409, 1, True, 'Use match_type="exact" or match_type="regex" instead.'),
    "content_required": Code(422, 2, True, "Send the content, or use delete_lines to remove lines."),
    "invalid_line_range": Code(422, 2, True, "Use line numbers within the document."),
    "invalid_argument": Code(422, 2, True, "Correct the argument and call again."),
    "invalid_patch": Code(422, 2, True, "Send a complete unified diff against the current content."),
    "invalid_regex": Code(422, 2, True, "Correct the pattern, or search for the literal text."),
    "invalid_text": Code(422, 2, True, "Send text without unpaired surrogates."),
    "invalid_path": Code(422, 2, True, "Use a path relative to the folder, with plain names."),
    "invalid_settings": Code(422, 2, False, "Correct the settings file named in the message."),
    "too_large": Code(413, 2, True, "Make it smaller, or split it."),
    "limit_exceeded": Code(429, 1, True, "Finish this turn and continue in another."),
    "unknown_tool": Code(404, 4, True, "List the tools and call one of them."),
    "not_found": Code(404, 4, True, "List the documents and use a path that exists."),
    "folder_not_found": Code(404, 4, False, "Name a folder that exists, or create it first."),
    "invalid_tab_id": Code(404, 4, True, "List the tabs and use one that is open."),
    "turn_not_found": Code(404, 4, True, "List the turns and use one of their ids."),
    "hunk_not_found": Code(404, 4, True, "Show the review again: its hunks have changed."),
    "unsupported_file_type": Code(415, 2, True, "Only UTF-8 text can be read and edited."),
    "forbidden_path": Code(403, 3, True, "Agents may not write here; choose another path."),
    "permission_denied": Code(
        403, 3, True, "Use another document, or ask the person to change this one's permissions."
    ),
    "outside_folder": Code(403, 3, True, "Use a path inside the folder, not a link that leaves it."),
    "secret": Code(403, 3, True, "Continue without the content of this file."),
    "unauthenticated": Code(401, 3, False, "Open the folder with `redraft open`, or send a valid token."),
    "not_allowed": Code(403, 3, False, "Call from this server's own page or program, in a role that may do this."),
    "mode_refuses": Code(403, 3, True, "Ask the person to change the mode."),
    "turn_closed": Code(409, 1, False, "Start a new turn."),
    "nothing_to_undo": Code(409, 1, False, "There is nothing left to undo."),
    "model_auth": Code(502, 3, False, "Set the key that the message names, or choose another model."),
    "model_busy": Code(503, 5, True, "Wait a moment and try again, or choose another model."),
    "model_timeout": Code(504, 5, True, "Try again, ask for less at a time, or allow more time."),
    "model_unreachable": Code(502, 5, True, "Check that the model's server is running and reachable."),
    "model_unavailable": Code(503, 2, False, "Choose a model that is set up; see docs/models.md."),
    "model_bad_request": Code(502, 2, False, "Check the model's name and settings; the message quotes its provider."),
    "model_context_full": Code(
        413, 1, True, "Send less of the conversation, or choose a model with a larger context window."
    ),
    "model_output_cut_off": Code(502, 1, True, "Ask for less at a time; the truncated output was not used."),
    "model_output_invalid": Code(502, 1, True, "Tell the model what was wrong and ask it again."),
    "subagent_failed": Code(502, 1, True, "Try again: finished answers are kept. The document was not changed."),
    "agent_failed": Code(502, 5, True, "Try again, or ask another agent; what it did so far is kept."),
    "agent_signed_out": Code(502, 3, False, "Sign in with the agent's own program, then try again."),
    "program_missing": Code(409, 5, False, "Install the program named in the message, or export to another format."),
    "export_failed": Code(500, 5, True, "Export as HTML, or print from the app; the document was not changed."),
    "cancelled": Code(409, 1, False, "It was stopped on request; start it again if you still need it."),
    "outcome_unknown": Code(503, 5, True, "Check the turns to see whether it was done before you repeat it."),
    "locked": Code(409, 1, True, "Wait until the job ends, or cancel it."),
    "busy": Code(503, 5, True, "Another process is writing; try again in a moment."),
    "io_error": Code(500, 5, False, "Check the disk; no document was changed."),
    "history_lost": Code(500, 5, False, "Copy what you typed, fix the disk, and restart Redraft."),
    "state_damaged": Code(500, 5, False, "Run `redraft status` to see what was lost. No document was changed."),
}

# What to do next depends on what an error is about, which one of its details names; it may be quoted.
FITTING: dict[tuple[ErrorCode, str], str] = {
    ("not_found", "job_id"): "List the jobs: each shows its id, session and question.",
    ("not_found", "session_id"): "List the sessions and use one of their ids, or start a new one.",
    ("not_found", "row_id"): "Read the session: it lists its context rows.",
    (
        "not_found",
        "trash",
    ): "List the trash and name a document in it, with its turn if it was deleted more than once.",
    ("not_found", "version"): "Read the document and continue from its current version.",
    ("not_found", "rule"): "List the rules and name one exactly as listed.",
    ("not_found", "name"): "List the known names and use one of them.",
    ("not_found", "macro"): "List the macros: `redraft macros`, or GET /api/agent/macros.",
    ("not_found", "commit"): "List the commits and use one of them.",
    ("not_found", "pane"): "List the tmux panes and use one of them.",
    ("content_required", "query"): "Say what to search for.",
    ("already_exists", "name"): "Choose another name, or remove the existing one.",
    ("conflict", "hunk_id"): (
        "Resolve it first: `redraft settle {hunk_id} --mine`, `--theirs` or `--both`; over HTTP, POST "
        "/api/review/hunk/settle with the text to keep."
    ),
    ("conflict", "job_id"): "Read the job's current state and continue from there.",
    ("conflict", "session_id"): "Unarchive the session, or start a new one.",
    ("limit_exceeded", "retry_after"): "Wait a moment, then send requests more slowly.",
    ("limit_exceeded", "field"): "Ask for less at a time.",
    ("limit_exceeded", "budget"): "Ask for less, or raise that limit in the settings.",
    ("io_error", "request"): "Try again; if it fails again, look for that number in the log.",
}
MISSING_NO_DOCUMENT = "Check the request and try again."


# What a refused edit was made for, and what there is instead.
VERSIONS = ("your_version", "current_version")


class RedraftError(Exception):
    """A failure with a code that callers may rely on."""

    default_code: ErrorCode = "io_error"

    def __init__(self, message: str, *, code: ErrorCode | None = None, **details: Any) -> None:
        super().__init__(message)
        self.code: ErrorCode = code or self.default_code
        self.message = message
        self.details = details
        self.hint = ""
        if self.code not in CODES:  # such as another release's, in the answer of its server
            raise ValueError(f"unregistered error code {self.code!r}")

    @property
    def advice(self) -> str:
        """What to do next: the `hint` of a surface that knows better, or what fits the code and the details."""
        if self.hint:
            return self.hint
        fitting = next((FITTING[self.code, key] for key in self.details if (self.code, key) in FITTING), None)
        if fitting is None and self.code == "not_found" and "path" not in self.details:
            return MISSING_NO_DOCUMENT
        return fitting.format_map(self.details) if fitting else CODES[self.code].advice

    @property
    def exit_status(self) -> int:
        return CODES[self.code].exit

    def as_dict(self) -> dict[str, Any]:
        """The one shape in which every surface reports a failure."""
        shape: dict[str, Any] = {
            "error": self.code,
            "message": self.message,
            "suggestion": self.advice,
            "recoverable": CODES[self.code].recoverable,
        }
        if self.details:
            shape["details"] = self.details
        return shape


class Refused(RedraftError):
    """The request cannot be done as asked; nothing was written."""

    default_code = "invalid_argument"


class Stale(Refused):
    """The document is no longer what the caller read."""

    default_code = "version_mismatch"

    def as_dict(self) -> dict[str, Any]:
        """With both versions beside the code."""
        shape = super().as_dict()
        return {**shape, **{name: self.details[name] for name in VERSIONS if self.details.get(name) is not None}}


class Forbidden(Refused):
    """A path, a mode or a rule says no."""

    default_code = "forbidden_path"


class ConfirmationRequired(Refused):
    """A person has to agree first."""

    default_code = "confirmation_required"


class Busy(RedraftError):
    """Another process holds the folder."""

    default_code = "busy"


class Damaged(RedraftError):
    """Stored state cannot be read; documents are untouched."""

    default_code = "state_damaged"
