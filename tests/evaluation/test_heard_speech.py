"""`eval asr` with the real engine, on sound that is made, by a model that says what it is told to."""

from pathlib import Path

import pytest

from subtitle_rag.domain import Cue
from subtitle_rag.evaluation.heard_speech import ErrorRate, error_rates, normalized
from tests.support.cases import cases
from tests.support.commandline import ran
from tests.support.made_sound import silence, voice, write_wav
from tests.support.question_files import question, write_lines
from tests.support.tiny_whisper import tiny_whisper

SENTENCES = "오늘은 부산에서 국밥을 먹습니다. 정말 맛있어요."
CAPTIONS = """WEBVTT

00:00:00.000 --> 00:00:03.000
[음악] 오늘은, 부산에서 국밥을

00:00:03.000 --> 00:00:05.000
먹었습니다! 정말 맛있어요
"""


def cues(*texts: str) -> list[Cue]:
    return [Cue(at * 1000, at * 1000 + 1000, text) for at, text in enumerate(texts)]


@cases(
    ("text", "compared"),
    [
        ("[음악] 네, 맞아요!", "네 맞아요"),
        ("- 그래요? (웃음)", "그래요"),
        ("♪ 노래 가사 ♪ OK", "ok"),
        ("\u1112\u1161\u11ab글", "한글"),
    ],
)
def test_notes_marks_and_case_do_not_count(text: str, compared: str) -> None:
    assert normalized(text) == compared


def test_spaces_count_for_words_alone() -> None:
    characters, words = error_rates(cues("먹어 보겠습니다"), cues("먹어보겠습니다"))
    assert characters == ErrorRate(0, 7)
    assert words == ErrorRate(2, 2)


def test_errors_are_counted() -> None:
    characters, words = error_rates(cues("국밥을 먹습니다", "정말 맛있어요"), cues("국밥을 먹었습니다 정말"))
    assert characters == ErrorRate(5, 13)
    assert words == ErrorRate(2, 4)
    assert error_rates([], cues("말"))[0].rate is None


@pytest.mark.campaign(part="flows")
@pytest.mark.hosts
def test_a_model_is_measured_by_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tiny_whisper(tmp_path / "said", SENTENCES)
    sound = write_wav(tmp_path / "food.wav", voice(4.6), silence(1))
    captions = tmp_path / "food.vtt"
    captions.write_text(CAPTIONS, encoding="utf-8")
    questions = write_lines(tmp_path / "questions.jsonl", question("1", "부산 국밥", ("food", 0, 5)))
    lines = ["eval", "asr", sound, captions, "--model", model, "--queries", questions, "--json"]
    (report,) = ran(capsys, *lines).result["models"]
    assert report["cer"]["edits"] == 1
    assert report["cer"]["of"] == 21
    assert report["wer"] == {"edits": 1, "of": 6, "rate": 0.1667}
    assert report["length"] == pytest.approx(5.6, abs=0.1)
    assert report["pace"] > 0
    assert report["gaps"] == 0
    assert {name: figures["hit@1"] for name, figures in report["scenes"].items()} == {"captions": 1.0, "heard": 1.0}
