"""Words of a keyboard in its other mode."""

import unicodedata

import pytest

from subtitle_rag.korean.keyboard import hangul, latin


@pytest.mark.parametrize(
    ("keys", "word"),
    [
        ("clzls", "치킨"),
        ("Rhcrp", "꽃게"),
        ("CLZLS", "치킨"),
        ("dlfrdjdy", "읽어요"),
        ("dlfrrh", "읽고"),
        ("rkqt", "값"),
        ("dhksqurgks", "완벽한"),
        ("djqtdjdy", "없어요"),
        ("qpxmska", "베트남"),
    ],
)
def test_english_keys_write_hangul(keys: str, word: str) -> None:
    assert hangul(keys) == word


@pytest.mark.parametrize("word", ["chicken", "python", "rr", "a", "k", "clzls1", "치킨", ""])
def test_what_writes_no_whole_syllables_is_left_alone(word: str) -> None:
    assert hangul(word) is None


@pytest.mark.parametrize(("typed", "word"), [("ㅔㅛ쇄ㅜ", "python"), ("햐ㅅ", "git"), ("ㅁㅔㅔ", "app")])
def test_hangul_keys_write_english(typed: str, word: str) -> None:
    assert latin(typed) == word


@pytest.mark.parametrize("word", ["치킨", "git", "ㅋㅋ1", "", unicodedata.normalize("NFD", "치킨")])
def test_whole_syllables_are_words_as_they_are(word: str) -> None:
    assert latin(word) is None


def test_every_syllable_is_written_by_its_keys() -> None:
    """By itself and before another one, whatever its final takes along."""
    for code in range(0xAC00, 0xD7A4):
        syllable = chr(code)
        keys = latin("ㅋ" + syllable)
        assert keys is not None
        if not set(unicodedata.normalize("NFD", syllable)) & set("ᄁᄄᄈᄊᄍᆩᆻᅤᅨ"):  # these need Shift
            assert hangul(keys[1:]) == syllable
