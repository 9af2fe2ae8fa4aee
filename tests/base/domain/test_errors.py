import ast
import errno
import os
import pickle
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from filelock import FileLock

import subtitle_rag
from subtitle_rag.base import i18n
from subtitle_rag.base.config.settings import YoutubeSettings
from subtitle_rag.base.domain import error_messages
from subtitle_rag.base.domain.error_messages import SENTENCES
from subtitle_rag.base.domain.errors import (
    AppError,
    BusyError,
    CaptionError,
    FetchError,
    LlmError,
    UsageError,
    bad_time,
    localize_reason,
)
from subtitle_rag.base.installation.extras import EXTRAS, Extra
from subtitle_rag.base.installation.package_installer import missing_extra
from subtitle_rag.captions.formats import LEFT_OUT
from subtitle_rag.library.connection import WORK, LockName, hold_lock
from subtitle_rag.youtube.lister import STATED
from subtitle_rag.youtube.refusals import RULES, STORED_RESTS
from subtitle_rag.youtube.session import Session
from tests.support.cases import cases
from tests.support.sources import tree

pytestmark = pytest.mark.xdist_group("sources")  # one worker reads the package
KINDS = {kind.__name__: kind for kind in (AppError, UsageError, CaptionError, FetchError, LlmError, BusyError)}
MAKERS = {*KINDS, "failure", "FileNotice"}
"""`models.ollama.wire.Call.failure` makes an LlmError."""
PACKAGE = Path(subtitle_rag.__file__).parent


CODES = [key for key in SENTENCES if not key.endswith(".hint")]


def placeholders(code: str) -> set[str]:
    text = SENTENCES[code] + SENTENCES[f"{code}.hint"]
    return {name for _before, name, _spec, _after in string.Formatter().parse(text) if name}


READERS = {"cue_blocks.py", "json3.py", "microdvd.py", "timed_xml.py"}
"""Modules of `captions` whose errors get the path of the file from `parse`."""


@cache
def raised() -> list[tuple[str, str, set[str | None]]]:
    """(place, code, names of the details) of every error that the package makes with literal codes."""
    return list(_raised())


def _raised() -> Iterator[tuple[str, str, set[str | None]]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "id", getattr(node.func, "attr", None))
                codes = [node.args[0].body, node.args[0].orelse] if isinstance(node.args[0], ast.IfExp) else node.args
                for code in codes:
                    if name in MAKERS and isinstance(code, ast.Constant):
                        place = f"{path.relative_to(PACKAGE)}:{node.lineno}"
                        named = {"path"} if path.name in READERS else set()
                        yield place, str(code.value), given(str(name), node) | named


def given(name: str, call: ast.Call) -> set[str | None]:
    """The details of an error; a failure of Ollama's always has host and model."""
    names = {keyword.arg for keyword in call.keywords}
    if name == "FileNotice":
        names = {str(key.value) for key in getattr(call.args[1], "keys", ()) if isinstance(key, ast.Constant)}
    return names | {"host", "model"} if name == "failure" or None in names else names


def test_the_walk_finds_the_errors_of_the_package() -> None:
    assert len(raised()) > 40
    assert {code for _place, code, _given in raised()} >= {"empty_query", "no_cues", "locked", "index_damaged"}


@cases(("place", "code", "given"), raised)
def test_an_error_is_raised_with_every_detail_that_its_sentences_name(
    place: str, code: str, given: set[str | None]
) -> None:
    assert code in CODES
    assert given >= placeholders(code)


def korean(error: AppError) -> str:
    i18n.activate("ko")
    try:
        return error.message
    finally:
        i18n.activate("en")


@cases(
    "number", [getattr(errno, name) for name in ("EACCES", "EPERM", "ENOENT", "EISDIR", "ENOTDIR", "EROFS", "ENOSPC")]
)
def test_the_systems_reasons_are_korean_in_a_korean_sentence(number: int) -> None:
    error = OSError(number, os.strerror(number), "/captions")
    for reason in (error.strerror, str(error), f"meta.json: {error.strerror}"):
        failure = UsageError("unreadable", path="/captions", reason=reason)
        assert not re.search("[A-Z]", korean(failure).replace("/captions", ""))
    assert UsageError("unreadable", path="a", reason=str(OSError(number, "Is a directory"))).message == (
        "a cannot be read: Is a directory."
    )


def test_a_reason_within_another_word_stays() -> None:
    assert localize_reason("untimed outer") == "untimed outer"


def test_every_code_is_raised_somewhere() -> None:
    assert set(CODES) == {code for _place, code, _given in raised()} | set(RULES) | set(LEFT_OUT.values()) | {
        "left_out_films",
        "left_out_unseen",
    }


@cases("name", WORK)
@cases("language", i18n.LANGUAGES)
def test_a_lock_that_another_process_holds_is_told_with_its_work_and_folder(
    name: LockName, language: str, tmp_path: Path
) -> None:
    i18n.activate(language)
    with FileLock(tmp_path / f"{name}.lock"), pytest.raises(BusyError) as caught, hold_lock(tmp_path, name):
        pass
    assert (caught.value.code, caught.value.details["lock"]) == ("busy", name)
    assert i18n._(WORK[name]) in caught.value.message
    assert str(tmp_path) in caught.value.message


@cases("extra", EXTRAS.values())
def test_an_extra_that_is_missing_is_told_with_the_line_that_installs_it(extra: Extra) -> None:
    assert missing_extra(extra).message.startswith(extra.purpose)
    assert missing_extra(extra).hint.endswith(missing_extra(extra).details["line"])


REFUSALS = {
    "protected": "This video is DRM protected",
    "sign_in_required": "This video is only available for registered users",
    "members_only": "Join this channel to get access to members-only content",
    "private": "Private video. Sign in if you've been granted access to this video",
    "age_restricted": "Sign in to confirm your age",
    "geo_blocked": "The uploader has not made this video available in your country",
    "payment_required": "This video requires payment to watch",
    "not_found": "Video unavailable",
    "script_required": "Requested format is not available",
    "empty_tab": "This channel does not have a shorts tab",
    "upcoming": "Premieres in 3 hours",
    "live": "This live stream recording is not available.",
    "processing": "We're processing this video. Check back later.",
    "rate_limited": "This content isn't available, try again later.",
    "bot_check": "Sign in to confirm you’re not a bot",
    "network": "The read operation timed out",
    "yt_dlp_outdated": "Unable to recognize tab page {x}",
}
"""What yt-dlp says for each code that is recognised by it; the others of the rules are raised by their names."""


NAMED = {"no_captions", "caption_blocked", "caption_damaged", "captions_withheld", "not_served"}


def test_every_refusal_is_recognised_or_raised_by_its_name() -> None:
    by_name = {code for _place, code, _given in raised()}
    assert set(RULES) == set(REFUSALS) | NAMED
    assert set(RULES) - set(REFUSALS) <= by_name


@cases(("code", "text"), REFUSALS.items())
@cases("language", i18n.LANGUAGES)
def test_a_recognised_refusal_has_every_detail_that_its_sentences_name(code: str, text: str, language: str) -> None:
    i18n.activate(language)
    thrown = TimeoutError(text) if code == "network" else ValueError(text)
    with pytest.raises(FetchError) as caught, Session(YoutubeSettings())._translate_errors("국수 {만두}"):
        raise thrown
    assert caught.value.code == code
    assert "국수 {만두}" in caught.value.message
    assert caught.value.hint


@cases("code", [*STATED, "members_only", *STORED_RESTS])
def test_a_refusal_that_is_known_before_anything_is_asked_for_needs_a_title_alone(code: str) -> None:
    assert placeholders(code) <= {"title"}


@cases("code", CODES)
@cases("language", i18n.LANGUAGES)
def test_a_code_says_what_happened_and_what_to_do(code: str, language: str) -> None:
    i18n.activate(language)
    error = AppError(code, **{name: f"<{name}>" for name in placeholders(code)})
    assert error.message.strip()
    assert error.hint.strip()
    assert str(error) == f"{error.message} {error.hint}"
    for name in placeholders(code):
        assert f"<{name}>" in str(error)


@cases("code", CODES)
def test_sentences_begin_and_end_as_sentences(code: str) -> None:
    message, hint = SENTENCES[code], SENTENCES[f"{code}.hint"]
    assert message[0].isupper() or message[0] == "{"
    assert message.endswith((".", "?"))
    assert hint.endswith((".", "?", ": {line}"))  # a line to copy has no full stop behind it


@pytest.mark.parametrize("kind", KINDS.values())
def test_an_error_survives_the_way_between_processes(kind: type[AppError]) -> None:
    sent = kind("unreadable", path="a {b}.vtt", reason="없음")
    received = pickle.loads(pickle.dumps(sent))
    assert type(received) is kind
    assert (received.code, received.details, str(received)) == (sent.code, sent.details, str(sent))


def test_details_may_hold_braces_and_percent_signs() -> None:
    error = bad_time("{0} {x} %s")
    assert error.message.startswith("{0} {x} %s ")


def test_no_code_is_explained_twice() -> None:
    source = ast.parse(Path(error_messages.__file__).read_text("utf-8"))
    (table,) = (node for node in ast.walk(source) if isinstance(node, ast.Dict))
    assert len(SENTENCES) == len(table.keys)
    assert set(SENTENCES) == {*CODES, *(f"{code}.hint" for code in CODES)}
