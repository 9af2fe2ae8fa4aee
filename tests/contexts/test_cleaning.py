"""What small models wrap a context in, and what they write instead of one."""

import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.domain.values import nfc
from subtitle_rag.contexts.cleaning import MAX_CHARACTERS, answer_object, clean_context
from tests.support.cases import cases

CONTEXT = "강사가 재귀 함수의 종료 조건을 설명하는 부분입니다."
SECOND = "이어서 팩토리얼을 예로 듭니다."

OWN = Path(__file__).parents[1] / "data" / "cleaning.jsonl"
SHARED = Path(os.environ.get("SUBTITLE_RAG_DATA") or Path(__file__).parents[3] / "shared" / "data")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def cleaned(row: dict[str, Any]) -> str:
    return clean_context(row["raw"], window=row.get("window", ""))


def score(answers: list[dict[str, Any]]) -> str:
    """One line a kind: how many come out as expected, and the first that does not."""
    total = Counter(row["kind"] for row in answers)
    wrong = [row for row in answers if cleaned(row) != nfc(row["expected"] or "")]
    missed = Counter(row["kind"] for row in wrong)
    lines = [f"{kind}: {total[kind] - missed[kind]}/{total[kind]}" for kind in total]
    return "\n".join(lines + [f"{row['raw']!r}\n  -> {cleaned(row)!r}" for row in wrong])


# --- fixtures ---


@cases("kind", sorted({row["kind"] for row in rows(OWN)}))
def test_every_kind_of_answer_is_cleaned(kind: str) -> None:
    answers = [row for row in rows(OWN) if row["kind"] == kind]
    assert len(answers) >= 5
    assert [(row["raw"], cleaned(row)) for row in answers] == [(r["raw"], nfc(r["expected"] or "")) for r in answers]


def test_the_fixtures_know_all_twenty_kinds() -> None:
    assert len({row["kind"] for row in rows(OWN)}) == 20


def test_the_shared_answers_come_out_as_expected() -> None:
    path = SHARED / "cleaning" / "dev.jsonl"
    if not path.exists():
        pytest.skip(f"no answers of models in {path.parent}; set SUBTITLE_RAG_DATA to score with them")
    report = score(rows(path))
    assert "->" not in report, report


def test_contexts_written_by_hand_pass_unchanged() -> None:
    path = SHARED / "scene_bench" / "contexts.jsonl"
    if not path.exists():
        pytest.skip(f"no contexts in {path.parent}; set SUBTITLE_RAG_DATA to check with them")
    contexts = [nfc(row["context"]) for row in rows(path)]
    assert [clean_context(context) for context in contexts] == contexts


# --- layers ---

WRAPPERS = {
    "think": "<think>음, 보자.</think>\n{}",
    "label": "**문맥:** {}",
    "preamble": "네, 다음은 요청하신 문맥입니다:\n\n{}",
    "closer": "{}\n\n도움이 되었기를 바랍니다!",
    "quotes": '"{}"',
    "fence": "```\n{}\n```",
    "tag": "<context>{}</context>",
    "bullet": "- {}",
    "turn": "{}<|im_end|>",
    "cut": "{} 그리고 그는",
}


IN_LINE = ("label", "bullet", "quotes", "cut", "tag", "closer")


def wrapped(text: str, wrappers: Iterable[str]) -> str:
    """`text` in each of the wrappers, the first inmost."""
    for wrapper in wrappers:
        text = wrapper.replace("{}", text)
    return text


def uncleaned(answers: Iterable[str]) -> str:
    """The answers of which anything but `CONTEXT` is left, each with what is left of it."""
    return "\n".join(
        f"{raw!r}\n  -> {left!r}" for raw in dict.fromkeys(answers) if (left := clean_context(raw)) != CONTEXT
    )


def test_layers_come_off_in_any_order() -> None:
    orders = [*(order for n in range(4) for order in permutations(WRAPPERS, n)), *permutations(IN_LINE, 4)]
    wrong = uncleaned(wrapped(CONTEXT, map(WRAPPERS.__getitem__, order)) for order in orders)
    assert not wrong, wrong


LABELS = (
    "{}",
    "**문맥:** {}",
    "문맥: {}",
    "[맥락] {}",
    "Here is the context: {}",
    "요약 - {}",
    "네, 다음은 문맥입니다: {}",
)
BULLETS = ("{}", "- {}", "* {}", "• {}", "1. {}", "① {}", "> {}")
QUOTES = ("{}", '"{}"', "“{}”", "'{}'", "「{}」", "`{}`", "**{}**")
CUTS = ("{}", "{} 그리고 그는", "{} 이어서 팩토리얼을")


@pytest.mark.campaign(part="flows")
def test_a_label_a_bullet_quotes_and_a_cut_come_off_however_they_are_written() -> None:
    dresses = product(CUTS, QUOTES, BULLETS, LABELS)
    wrong = uncleaned(wrapped(CONTEXT, dress) for dress in dresses)
    assert not wrong, wrong


def test_tags_and_json_are_found_behind_labels_bullets_and_quotes() -> None:
    tagged = (wrapped(f"<context>{CONTEXT}</context>", dress) for dress in product(QUOTES, BULLETS[:4], LABELS))
    keyed = (
        wrapped(json.dumps({"context": CONTEXT}, ensure_ascii=False), [dress])
        for dress in (*BULLETS, *LABELS, *QUOTES, "**{}**", "네, {}")
    )
    wrong = uncleaned([*tagged, *keyed])
    assert not wrong, wrong


@pytest.mark.parametrize(
    "context",
    [
        "강사가 '<summary>'를 접는 방법을 설명합니다.",
        "'<summary>'를 접는 방법을 강사가 설명합니다.",
        '강사가 \'{"name": "홍길동이 말합니다"}\'라는 JSON을 설명합니다.',
        "'종료 조건'과 '재귀'의 차이를 강사가 설명하는 부분입니다.",
        "「종료 조건」을 강사가 설명하는 부분입니다.",
        '"재귀"라는 말을 강사가 설명하며 "종료 조건"을 예로 듭니다.',
        "강사가 학생에게 인사하며 '안녕하세요.'",
    ],
)
def test_quotes_that_belong_to_a_context_stay(context: str) -> None:
    assert clean_context(context) == context


@cases("key", ["context", "문맥", "맥락", "summary", "answer"])
@cases("ascii_only", [True, False])
@cases("cut", [0, 1, 2, 3])
def test_json_is_read_whole_escaped_or_cut_off(key: str, ascii_only: bool, cut: int) -> None:
    raw = json.dumps({"id": 3, "data": {key: f"{CONTEXT} {SECOND}"}}, ensure_ascii=ascii_only)
    assert clean_context(raw[: len(raw) - cut]) == f"{CONTEXT} {SECOND}"


# --- the window ---

WINDOW = "자 그럼 종료 조건이 없으면 어떻게 될까요 계속 자기를 부르다가 스택이 넘칩니다 그래서 꼭 있어야 돼요"


@pytest.mark.parametrize(
    "raw",
    [
        f"{WINDOW}\n{CONTEXT}",
        f"{WINDOW} {CONTEXT}",
        f"자 그럼, 종료 조건이 없으면 어떻게 될까요? 계속 자기를 부르다가 스택이 넘칩니다. {CONTEXT}",
        f"{CONTEXT}\n\n{WINDOW}",
        f"> {WINDOW}\n\n문맥: {CONTEXT}",
    ],
)
def test_what_was_said_is_cut_from_around_the_context(raw: str) -> None:
    assert clean_context(raw, window=WINDOW) == CONTEXT


@pytest.mark.parametrize(
    "raw", [WINDOW, f'"{WINDOW}"', "계속 자기를 부르다가 스택이 넘칩니다.", f"문맥: {WINDOW[:40]}"]
)
def test_a_mere_echo_is_no_context(raw: str) -> None:
    assert clean_context(raw, window=WINDOW) == ""


def test_a_context_may_use_the_words_that_were_said() -> None:
    told = "강사가 종료 조건이 없으면 스택이 넘칩니다라는 경고를 예제로 보여 줍니다."
    assert clean_context(told, window=WINDOW) == told


# --- properties ---

PIECES = st.sampled_from(
    [
        *(
            CONTEXT,
            SECOND,
            "쯔양이",
            "설명하면서",
            "입니다",
            "네, ",
            "문맥: ",
            "다음은 문맥입니다:",
            "도움이 되길 바랍니다.",
        ),
        *(
            "\n",
            "\n\n",
            "- ",
            "1. ",
            "# ",
            "> ",
            "| ",
            "**",
            "*",
            "`",
            "```json",
            '"',
            "'",
            "“",
            "”",
            "(",
            ")",
            "[",
            "]",
        ),
        *("<think>", "</think>", "<context>", "</context>", "<구간>", "</구간>", "<|im_end|>", "user\n", "{", "}"),
        *(
            '{"context": "',
            '"context": ',
            ",",
            ":",
            "\\n",
            '\\"',
            "\\uac15",
            "&lt;",
            "&amp;",
            "漢字",
            "かな",
            "ㅋㅋ",
            "3.5",
        ),
        *(
            "[00:12 ~ 00:15] ",
            "00:12 ",
            "...",
            "\u200b",
            "\u202e",
            "\u1112\u1161\u11ab",
            "\x00",
            "😊",
            "vs. ",
            "PyTorch ",
        ),
    ]
)
ANSWERS = st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=60)


@given(ANSWERS, st.sampled_from(["", WINDOW, CONTEXT]))
def test_cleaning_twice_changes_nothing(raw: str, window: str) -> None:
    once = clean_context(raw, window=window)
    assert clean_context(once, window=window) == once


@given(ANSWERS)
def test_a_context_is_one_plain_line(raw: str) -> None:
    context = clean_context(raw)
    assert context == " ".join(context.split()) == nfc(context)
    assert not any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in context)


@given(ANSWERS)
def test_nothing_is_written_but_full_stops(raw: str) -> None:
    context = clean_context(raw)
    given_ = re.sub(r"\\u([0-9a-f]{4})", lambda escape: chr(int(escape[1], 16)) + escape[0], raw)
    left = iter([letter for letter in nfc(given_) if letter.isalnum()])
    assert all(letter in left for letter in context if letter.isalnum())
    assert len(context.replace(".", "")) <= len(nfc(raw))


@given(st.text())
def test_a_context_in_front_of_anything_is_never_changed(noise: str) -> None:
    context = clean_context(f"{CONTEXT}\n\n{noise}")
    assert not context or CONTEXT[:-1] in context or not re.search(r"[가-힣]", context)


@pytest.mark.parametrize(
    "noise", ["[", '{"context": ', "<think>", '"', "문맥: ", "- ", "네, ", "\n", "가 ", "((", "**가", "| ", "\\"]
)
def test_an_endless_answer_is_read_to_its_limit(noise: str) -> None:
    endless = noise * (200_000 // len(noise))
    assert clean_context(endless, window=endless) == ""
    assert clean_context(f"{CONTEXT} {'가나다라마바사 ' * 30_000}{SECOND}") == CONTEXT
    assert clean_context(" " * MAX_CHARACTERS + CONTEXT) == ""


# --- answers as the schema asks for them, and as they are cut ---

SPEECH = "오늘은 국수를 삶아 볼 건데요 먼저 물을 올리고 소금을 한 숟갈 넣어 주세요 면은 백 그램이면 충분합니다"


def test_the_key_that_was_asked_for_is_all_of_an_answer() -> None:
    others = {"title": "느린 부엌에서 국수를 삶는 영상입니다.", "list": ["국수를 삶는 방법을 설명합니다."]}
    assert clean_context(json.dumps({**others, "context": CONTEXT}, ensure_ascii=False)) == CONTEXT
    assert clean_context(json.dumps({"context": SPEECH, **others}, ensure_ascii=False), window=SPEECH) == ""
    assert clean_context(json.dumps({"context": "", **others}, ensure_ascii=False)) == ""
    assert clean_context(json.dumps(others, ensure_ascii=False)) != ""


def test_a_value_that_the_schema_or_the_most_tokens_cut_loses_its_last_sentence() -> None:
    cut = f"{CONTEXT} 이어서 팩토리얼을 예로 들어 재귀 호출이 쌓이는 모습을 그려 보이며 소개"
    answer = json.dumps({"context": cut}, ensure_ascii=False)
    assert clean_context(answer) == cut
    assert clean_context(answer, limit=len(cut)) == CONTEXT
    assert clean_context(answer.removesuffix('"}'), is_cut=True) == CONTEXT
    assert clean_context(json.dumps({"context": CONTEXT}, ensure_ascii=False), limit=len(CONTEXT)) == CONTEXT
    assert clean_context('{"context": "강사가 재귀 함수의 종료 조건을 소개', is_cut=True) == ""


@cases(
    "raw",
    [
        f"analysisWe need one Korean sentence.assistantfinal{CONTEXT}",
        f'analysis We need Korean. assistantfinal{{"context": "{CONTEXT}"}}',
        f"<|channel|>analysis<|message|>We need it short.<|end|><|start|>assistant<|channel|>final<|message|>{CONTEXT}",
        f"final{CONTEXT}",
        f"Draft 1: {SECOND}\nDraft 2: {CONTEXT}",
        f"초안: {CONTEXT}",
        f"{CONTEXT}<br>",
        CONTEXT.replace(" 종료", " <br/>종료"),
        f"아래는 검색 향상을 위한 짧은 문맥입니다.\n---\n{CONTEXT}",
        f"다음은 검색 결과를 개선하기 위한 문맥입니다.\n\n***\n\n{CONTEXT}",
        f"{SPEECH}\n#Situation: {CONTEXT}",
        f"{SPEECH}\n#상황: {CONTEXT}",
        f"물론입니다! 아래는 요청하신 구간의 문맥입니다.\n---\n{CONTEXT}",
        f"네, 알겠습니다. 다음은 검색에 쓸 문맥 한 문장입니다.\n***\n{CONTEXT}",
        f"요청하신 대로 정리하면 다음과 같습니다.\n{CONTEXT}",
        f'문맥 = "{CONTEXT}"',
        f"context = '{CONTEXT}';",
        f"&quot;{CONTEXT}&quot;",
        f"&lt;문맥&gt;{CONTEXT}&lt;/문맥&gt;",
        f"1안: {SECOND}\n2안: {CONTEXT}",
        f"첫 번째 문맥: {SECOND}\n두 번째 문맥: {CONTEXT}",
        f"[버전 1] {SECOND}\n[버전 2] {CONTEXT}",
        f"{SECOND}\n\n또는\n\n{CONTEXT}",
        f"{SECOND} (또는) {CONTEXT}",
        f"→ {CONTEXT}",
        f"답변) {CONTEXT}",
        json.dumps({"context": f'문맥 = "{CONTEXT}"'}, ensure_ascii=False),
    ],
)
def test_channels_drafts_breaks_announcements_and_labels_come_off(raw: str) -> None:
    assert clean_context(raw, window=SPEECH) == CONTEXT


def test_fields_in_lines_of_their_own_keep_their_names() -> None:
    fields = "인물: 강사\n장소: 강의실\n내용: 재귀 함수의 종료 조건을 설명합니다."
    assert clean_context(fields) == "인물: 강사. 장소: 강의실. 내용: 재귀 함수의 종료 조건을 설명합니다."


def test_a_sentence_above_a_line_of_dashes_stays_where_it_says_something() -> None:
    assert clean_context(f"{CONTEXT}\n---\n{SECOND}") == f"{CONTEXT} {SECOND}"


def test_a_sentence_that_says_the_last_ones_again_in_other_words_order_goes() -> None:
    first = "요리사가 시장에서 떡볶이를 사고 그릇에 담습니다."
    again = "요리사가 떡볶이를 시장에서 사고 그릇에 담게 됩니다."
    other = "손님들은 국수를 기다립니다."
    assert clean_context(f"{first} {again} {other}") == f"{first} {other}"


def test_a_new_number_makes_a_like_sentence_another_one() -> None:
    text = "1번 그릇은 국수 그릇입니다. 2번 그릇은 국수 그릇입니다."
    assert clean_context(text) == text


def test_a_sentence_that_goes_round_is_no_context() -> None:
    text = "요리사가 큰 냄비에 담은 국수 중에서 큰 냄비에 담았던 국수 중 큰 냄비에 담은 국수 중에서 고른 국수입니다."
    assert clean_context(text) == ""
    assert clean_context("밥을 먹는 사람들은 밥을 먹는 사람보다 밥을 먹는 사람이 더 낫다고 말한다.") == ""
    own = "다온이 할머니 댁에서 할머니 손맛과 할머니 이름이 붙은 꽃게탕을 견주어 본다."
    assert clean_context(own) == own


def test_a_sentence_of_speech_is_no_context_and_one_beside_it_is() -> None:
    own = "다온이 할머니에게 게를 손질하는 법을 배운다."
    assert clean_context(f"{own} 그래서 배를 뒤집어 봤거든요. 암수 구별은 어떻게 해요?") == own


@cases(
    ("raw", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a": "줄\n바꿈"}', {"a": "줄\n바꿈"}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('생각 {틀린} <think>{"a": 9}</think>{"a": 1}', {"a": 1}),
        ('analysis{"a": 2}assistantfinal{"a": 1}', {"a": 1}),
        ('Draft 1: {"a": 3}\nDraft 2: {"a": 1}', {"a": 1}),
        ('{"a": 1} 도움이 되길 {바랍니다}', {"a": 1}),
        ('{"a": {"b": 1}}', {"a": {"b": 1}}),
        ('{"a": 1', None),
        ("모르겠습니다.", None),
        ("[1, 2]", None),
        ("{" * 20_000, None),
    ],
)
def test_an_object_is_read_strictly_first_and_then_out_of_what_wraps_it(raw: str, found: object) -> None:
    assert answer_object(raw) == found
