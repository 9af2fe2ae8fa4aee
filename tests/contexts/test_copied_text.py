"""Sentences that a model copied out of its prompt."""

from subtitle_rag.contexts.copied_text import SourceTexts
from tests.support.cases import cases

CAPTIONS = "오늘은 국수를 삶아 볼 건데요 먼저 물을 올리고 소금을 한 숟갈 넣어 주세요 면은 백 그램이면 충분합니다"
TITLE = "느린 부엌의 첫 번째 국수 이야기"
RULES = "- 문맥만 씁니다.\n- 누가, 무엇을, 어떻게 하는지 완전한 문장으로 서술합니다."
OWN = "요리사가 국수 삶을 물에 소금을 넣으라고 알려 준다."

sources = SourceTexts.of([CAPTIONS], [TITLE], [RULES])


@cases(
    "copy",
    [
        CAPTIONS,
        "먼저 물을 올리고 소금을 한 숟갈 넣어 주세요.",
        "먼저물을 올리고, 소금을 한숟갈 넣어주세요!",
        "느린 부엌의 첫 번째 국수 이야기입니다.",
        "누가, 무엇을, 어떻게 하는지 완전한 문장으로 서술합니다.",
        "문맥만 씁니다.",
        "- 문맥만 씁니다",
        "이 영상은 먼저 물을 올리고 소금을 한 숟갈 넣어 주세요 하고 말한다.",
    ],
)
def test_what_stands_in_a_source_whatever_its_spaces_and_punctuation_is_dropped(copy: str) -> None:
    assert sources.without_copies(copy) == ""


def test_crumbs_of_a_longer_copy_are_copies_too() -> None:
    said = SourceTexts.of([f"이해하셨죠? {CAPTIONS} 이제 다시 안 끓일 겁니다. 솔직하게"])
    assert said.without_copies("이해하셨죠? [소금을]. 이제 다시 안 끓일 겁니다. 솔직하게.") == ""
    assert said.without_copies(f"이해하셨죠? {OWN} 솔직하게.") == OWN
    assert said.without_copies("솔직하게 말한다.") == "솔직하게 말한다."


def test_a_short_title_is_a_copy_only_where_it_is_most_of_the_sentence() -> None:
    short = SourceTexts.of([], ["국수 이야기"])
    assert short.without_copies("국수 이야기입니다.") == ""
    assert short.without_copies(f"국수 이야기에서 {OWN}") != ""


def test_a_title_with_words_that_the_video_does_not_say_is_the_title_still() -> None:
    assert sources.without_copies("주인장의 전통적인 느린 부엌의 첫 번째 국수 이야기입니다.") == ""
    said = "주인장의 소금 넣는 느린 부엌의 첫 번째 국수 이야기입니다."
    assert sources.without_copies(said) == said


TITLED = SourceTexts.of(
    [f"{CAPTIONS} 여러분이 보시는 것처럼 이것은 어렵지 않아요"],
    [TITLE, "국수를 삶는 법과 육수를 내는 법을 차례로 알려 드립니다"],
    [RULES],
    ["부엌지기"],
    [TITLE, "부엌지기"],
)


@cases(
    "framed",
    [
        "이것은 여러분이 느린 부엌의 첫 번째 국수 이야기의 영상입니다.",
        "이 영상은 느린 부엌의 첫 번째 국수 이야기에 대한 영상입니다.",
        "여러분이 보시는 영상은 ‘느린 부엌의 첫 번째 국수 이야기’입니다.",
        "다음은 느린 부엌의 국수에 대한 내용입니다.",
        "부엌지기의 첫 번째 국수 이야기입니다.",
        "지금 보고 계신 것은 부엌지기 채널의 느린 부엌 시리즈입니다.",
        "저는 한국어 영상에서 느린 부엌의 국수를 소개합니다.",
        "진행자가 이 부분에서 첫 번째 국수 이야기를 설명합니다.",
        "이번 영상에서는 여러분과 함께 국수를 삶는 법과 육수를 내는 법을 다룹니다.",
    ],
)
def test_a_title_channel_or_description_in_a_frame_of_empty_words_is_a_copy(framed: str) -> None:
    assert TITLED.without_copies(framed) == ""
    assert TITLED.without_copies(f"{framed} {OWN}") == OWN


@cases(
    "own",
    [
        "부엌지기가 국수를 삶을 때 소금을 넣는 까닭을 말한다.",
        "느린 부엌의 첫 번째 국수 이야기에서 면의 양을 정하는 부분이다.",
        "여러분이 보시는 영상은 소금 간을 다룹니다.",
        "진행자가 국수 삶는 물에 소금을 넣으라고 설명합니다.",
        "저는 국수보다 면을 먼저 소개합니다.",
        "국수가 퍼지지 않게 삶는 부분이다.",
    ],
)
def test_title_and_channel_beside_words_of_their_own_are_kept(own: str) -> None:
    assert TITLED.without_copies(own) == own


def test_an_answer_that_begins_as_a_copy_is_told_before_its_end() -> None:
    more = "면이 떠오르면 찬물을 한 컵 붓고 다시 끓어오를 때까지 기다려 주세요"
    said = SourceTexts.of([f"{CAPTIONS} {more}"])
    assert said.begins_as_copy(CAPTIONS) is None
    assert said.begins_as_copy(f"{CAPTIONS} {more}") is True
    assert said.begins_as_copy(f"{OWN} {CAPTIONS} {more}") is False
    own = "냄비를 불에 올리고 그릇과 젓가락을 챙기며 뒤이어 상을 차리고 손님을 부르는 데까지 이어진다"
    assert said.begins_as_copy(f"요리사가 ‘{CAPTIONS[:20]}’라고 하며 {own}") is False


def test_what_remains_beside_a_copy_is_kept() -> None:
    copy = "먼저 물을 올리고 소금을 한 숟갈 넣어 주세요."
    assert sources.without_copies(f"{copy} {OWN}") == OWN
    assert sources.without_copies(f"{OWN} {copy}") == OWN


@cases(
    "own",
    [
        OWN,
        "‘느린 부엌의 첫 번째 국수 이야기’에서 요리사가 면의 양을 백 그램으로 잡고 소금 간을 먼저 하는 까닭을 말한다.",
        "면은 백 그램이면 된다고 한다.",
        "느린 부엌의 첫 번째 국수 이야기 영상에서 소금, 물, 그릇 이야기를 하는 부분입니다.",
        "짧다.",
        "",
    ],
)
def test_a_sentence_with_words_of_its_own_is_kept(own: str) -> None:
    assert sources.without_copies(own) == own


@cases(
    "sentence",
    [
        "이 구간은 영상의 중요한 부분입니다.",
        "이 부분은 어떤 부분인지 설명해 줄 수도 있습니다.",
        "여기는 전체를 한 문장으로 쓰세요.",
        "이 장면에서는 누가 무엇을 하는지 완전한 문장으로 서술합니다.",
        "위층으로 올라가는 계단입니다.",
    ],
)
def test_what_has_no_word_of_the_video_beside_those_of_the_task_is_unrelated(sentence: str) -> None:
    assert sources.without_unrelated(sentence) == ""
    assert sources.without_unrelated(f"{sentence} {OWN}") == OWN


def test_one_word_of_captions_among_many_of_the_task_is_too_few() -> None:
    rules = "인사말, 제목, 목록, 따옴표 없이 한 문장으로 쓰세요."
    writing = SourceTexts.of(["국수 편지를 쓰는 날이에요 부엌에서 연필로 편지를 쓰는 거죠"], ["편지"], [rules])
    assert writing.without_unrelated("지금은 인사말, 목록, 따옴표를 빼고 쓰는 글이다.") == ""
    assert writing.without_unrelated("부엌에서 인사말, 목록, 따옴표를 빼고 편지를 쓴다.").startswith("부엌")
    assert writing.without_unrelated("연필을 소개한다.") == "연필을 소개한다."


def test_an_adverb_that_captions_have_too_is_no_word_of_the_video() -> None:
    salted = SourceTexts.of(["국물에 소금을 많이 넣어서 정말 짜요 그래서 물을 항상 옆에 둬요"], ["국수"], [RULES])
    assert salted.without_unrelated("이 도구는 항상 많이 활용되고 정말 유용합니다.") == ""
    assert salted.without_unrelated("소금을 많이 넣는다.") == "소금을 많이 넣는다."


@cases(
    "sentence",
    [
        OWN,
        "국수를 소개하는 부분입니다.",
        "요리사가 면을 삶는다.",
        "느린부엌 채널의 시작입니다.",
    ],
)
def test_one_word_of_captions_title_or_names_is_enough(sentence: str) -> None:
    assert sources.without_unrelated(sentence) == sentence


def test_sentences_about_captions_in_another_language_are_kept() -> None:
    english = SourceTexts.of(["today we cook noodles"], ["Noodles"], [RULES])
    assert english.without_unrelated("요리사가 조리법을 소개합니다.") == "요리사가 조리법을 소개합니다."


def test_an_overview_has_a_third_of_its_words_from_the_video() -> None:
    assert TITLED.tells_of_video("요리사가 국수를 삶을 물에 소금을 한 숟갈 넣고 면을 백 그램 삶는다.")
    invented = "요리사가 친구들과 국수를 먹으며 여행을 떠난다. 바다에서 사진을 찍고 해산물을 산다."
    assert not TITLED.tells_of_video(invented)
    assert not TITLED.tells_of_video("이는 국수와 소금입니다."), "two words summarise nothing"
    assert SourceTexts.of(["hello and welcome to the kitchen"]).tells_of_video("주방에 온 손님을 맞이한다.")
