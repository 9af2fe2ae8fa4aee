"""Plain text with times, as people copy and save it."""

from pathlib import Path

from subtitle_rag.captions import files
from tests.support.cases import cases
from tests.support.reading import cues

SPOKEN = [(0, "", "국수를 삶아요"), (5000, "", "물이 끓네요")]
TALK = [(0, "순이", "국수를 삶아요"), (5000, "철수", "물이 끓네요")]


@cases(
    ("text", "expected"),
    [
        ("0:00\n국수를 삶아요\n0:05\n물이 끓네요\n", SPOKEN),
        ("0:00\n0초\n국수를 삶아요\n0:05\n5초\n물이 끓네요\n", SPOKEN),
        ("스크립트\n00:00 국수를 삶아요\n00:05 물이 끓네요\n", SPOKEN),
        ("[00:00:00] 국수를\n삶아요\n[00:00:05] - 물이 끓네요\n", SPOKEN),
        ("(0:00) 국수를 삶아요\n\n(0:05) 물이 끓네요", SPOKEN),
        (
            "저녁 모임\n2026.01.02 금 오후 2:30 ・ 12분 34초\n순이, 철수\n\n"
            "순이 00:00\n국수를 삶아요\n\n철수 00:05\n물이 끓네요\n",
            TALK,
        ),
        ("[순이] 14:03:20\n국수를 삶아요\n\n[철수] 14:03:25\n물이 끓네요\n", TALK),
        ("순이   0:00\n국수를 삶아요\n철수   0:05\n물이 끓네요\n", TALK),
        ("00:00:00:00 00:00:04:10 04:10\n국수를\n삶아요\n\n00:00:05:00 00:00:06:12 01:12\n물이 끓네요\n", SPOKEN),
        ("0:00 - 0:04\n국수를 삶아요\n0:05 - 0:08\n물이 끓네요\n", SPOKEN),
        (
            "00:00:00:00 - 00:00:04:05\nSpeaker 1\n국수를 삶아요\n\n"
            "00:00:05:00 - 00:00:07:00\nSpeaker 2\n물이 끓네요\n",
            [(0, "Speaker 1", "국수를 삶아요"), (5000, "Speaker 2", "물이 끓네요")],
        ),
        ("00:00:00:00\t00:00:04:05\t국수를 삶아요\n00:00:05:00\t00:00:07:00\t물이 끓네요\n", SPOKEN),
        ("00:00:00.000\t00:00:04.250\t국수를 삶아요\n00:00:05.000\t00:00:07.000\t물이 끓네요\n", SPOKEN),
        ("00;00;00;00 - 00;00;04;05\n국수를 삶아요\n\n00;00;05;00 - 00;00;07;00\n물이 끓네요\n", SPOKEN),
        ("1 00:00:00:00 00:00:04:05 국수를\n삶아요\n2 00:00:05:00 00:00:07:00 물이 끓네요\n", SPOKEN),
        ("[00:00:00 - 00:00:04] 국수를 삶아요\n[00:00:05 - 00:00:07] 물이 끓네요\n", SPOKEN),
        ("0:00 - 0:04 국수를 삶아요\n0:05 - 0:07 물이 끓네요\n", SPOKEN),
        ("순이 (00:00): 국수를 삶아요\n철수 (00:05): 물이 끓네요\n", TALK),
    ],
)
def test_a_transcript_has_text_times_and_speakers(text: str, expected: list[tuple[int, str, str]]) -> None:
    assert [(cue.start_ms, cue.speaker, cue.text) for cue in cues(text, "txt")] == expected


def test_in_a_folder_only_texts_with_times_are_captions(tmp_path: Path) -> None:
    for name, text in {
        "강연.txt": "0:00\n안녕하세요\n0:05\n반갑습니다\n",
        "메모.txt": "10:30 회의\n장 볼 것: 두부\n",
        "설정.xml": "<?xml version='1.0'?><config><p begin='1s'/></config>",
        "자막.xml": "<?xml version='1.0'?>\n<tt><body><p begin='1s' end='2s'>안녕</p></body></tt>",
        "목록.txt": '{"a": 1}',
        "표.txt": "가\t나\n다\t라\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = [each.video.title for each in files.discover([tmp_path]) if isinstance(each, files.CaptionGroup)]
    assert found == [
        "강연",
        "자막",
    ]
