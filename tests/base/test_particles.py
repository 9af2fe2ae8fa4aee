"""Particles agree with the names and numbers that a sentence is filled with."""

from pathlib import Path

from subtitle_rag.base import i18n
from subtitle_rag.base.json_lines import bad_queries
from subtitle_rag.base.particles import KoreanSentence, ending
from tests.support.cases import cases

VOWEL = """
    소리 2026.11.22 mpv VLC IINA YouTube “YouTube” Ollama server text qwen3:4b GPT-4 GPT-4o Netflix Disney+ C++ Twitter
    Spotify LG BTS IVE aespa JTBC BBC PDF GPU Windows Firefox Docker SQLite ChatGPT iPad Naver Kakao Claude DeepSeek
    2,024 (주)
"""
CONSONANT = """
    식탁 ‘식탁’ 10 3 6 1,000 Chrome Python TikTok Tab BGE-M3 iPhone 3M Qwen EXAONE Instagram Facebook Samsung tvN CNN
    JSON MacBook Photoshop K-pop internet Zoom
"""
LATERAL = "서울 18 7 URL Google config.toml ASMR R1 ‘R1’ HTML Mistral Apple"


@cases(
    ("text", "kind"),
    [
        *((text, "vowel") for text in VOWEL.split()),
        *((text, "consonant") for text in CONSONANT.split()),
        *((text, "ㄹ") for text in LATERAL.split()),
        ("95 %", "vowel"),
        ("1.5 GB", "vowel"),
        ("브라우저(Firefox 12)", "vowel"),
        *((text, "ㄹ") for text in ("NCT 127", "‘NCT 127’", "vlog 8")),
        ("東京", None),
        ("🎉", None),
        ("", None),
    ],
)
def test_the_end_of_a_word_is_as_it_is_read_aloud(text: str, kind: str | None) -> None:
    assert ending(text) == kind


@cases(
    "filled",
    [
        ("{x}은(는) 없습니다", "식탁", "식탁은 없습니다"),
        ("{x}이(가) 없습니다", "mpv", "mpv가 없습니다"),
        ("‘{x}’을(를) 지웁니다", "서울", "‘서울’을 지웁니다"),
        ("{x}(으)로 재생합니다", "서울", "서울로 재생합니다"),
        ("{x}(으)로 재생합니다", "식탁", "식탁으로 재생합니다"),
        ("{x}(으)로 재생합니다", "VLC", "VLC로 재생합니다"),
        ("{x}와(과) 함께", "Python", "Python과 함께"),
        ("‘{x}’(이)라는 테마", "밤", "‘밤’이라는 테마"),
        ("‘{x}’(이)라는 테마", "바다", "‘바다’라는 테마"),
        ("{x}을(를) 봅니다", "東京", "東京을(를) 봅니다"),
        ("{x:.1f}을(를) {{봅니다}}", 2.04, "2.0을 {봅니다}"),
    ],
)
def test_a_particle_behind_a_field_agrees_with_its_value(filled: tuple[str, object, str]) -> None:
    template, value, sentence = filled
    assert KoreanSentence(template).format(x=value) == sentence


def test_outside_text_keeps_its_parentheses() -> None:
    title = "고양이(가) 을(를)"
    assert (
        KoreanSentence("‘{x}’을(를) 지웠습니다. {y}을(를)").format(x=title, y="{z}")
        == f"‘{title}’을 지웠습니다. {{z}}을(를)"
    )


def test_sentences_of_the_catalogue_choose_their_particles() -> None:
    i18n.activate("ko")
    sentence = "Text copied: {format}"
    assert i18n._(sentence).format(format="Anki") == "Anki로 복사했습니다."
    assert i18n._(sentence).format(format="VTT 파일") == "VTT 파일로 복사했습니다."
    assert i18n._(sentence).format(format="JSON") == "JSON으로 복사했습니다."
    i18n.activate("en")
    assert not isinstance(i18n._(sentence), KoreanSentence)


def test_the_form_of_a_line_of_json_ends_in_no_particle() -> None:
    i18n.activate("ko")
    assert "(가)" not in bad_queries(Path("gold.jsonl"), 1, "").hint
    i18n.activate("en")
