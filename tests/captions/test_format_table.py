"""What each format keeps: text, times and speakers, in each encoding."""

from collections.abc import Callable

from subtitle_rag.captions.formats import FORMATS
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.text_encoding import decode

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp949", "johab")
LINES = [(1000, 4000, "순이", "국수를 삶고, 먹어요"), (5000, 8000, "철수", "물이 끓네요")]


def _clock(ms: int, point: str = ",") -> str:
    return f"00:00:{ms // 1000:02d}{point}{ms % 1000:03d}"


def _json3() -> str:
    events = ",".join(
        f'{{"tStartMs":{a},"dDurationMs":{b - a},"segs":[{{"utf8":"{who}: {text}"}}]}}' for a, b, who, text in LINES
    )
    return f'{{"events":[{events}]}}'


def _xml(row: str, frame: str) -> str:
    rows = "".join(row.format(a=a, b=b, d=b - a, who=who, text=text) for a, b, who, text in LINES)
    return frame.format(rows=rows)


def _rows(row: Callable[[int, int, str, str], str]) -> str:
    return "".join(row(*line) for line in LINES)


AGENTS = "".join(
    f'<ttm:agent xml:id="{who}"><ttm:name>{who}</ttm:name></ttm:agent>' for _start, _end, who, _text in LINES
)
FILES = {
    "json3": _json3(),
    "vtt": "WEBVTT\n\n" + _rows(lambda a, b, w, t: f"{_clock(a, '.')} --> {_clock(b, '.')}\n<v {w}>{t}\n\n"),
    "ass": "[Script Info]\n[Events]\n"
    + _rows(lambda a, b, w, t: f"Dialogue: 0,{_clock(a, '.')},{_clock(b, '.')},D,{w},0,0,0,,{{\\an8}}{t}\n"),
    "smi": "<SAMI><BODY>"
    + _rows(
        lambda a, b, w, t: (
            f"<SYNC Start={a}><P Class=KRCC ID=Source>{w}<P Class=KRCC>{t}<SYNC Start={b}><P Class=KRCC>&nbsp;"
        )
    ),
    "ttml": _xml(
        '<p begin="{a}ms" end="{b}ms" ttm:agent="{who}">{text}</p>',
        f"<tt><head>{AGENTS}</head><body>{{rows}}</body></tt>",
    ),
    "srv": _xml('<p t="{a}" d="{d}">{who}: {text}</p>', '<timedtext format="3"><body>{rows}</body></timedtext>'),
    "lrc": _rows(lambda a, b, w, t: f"[00:0{a // 1000}.00]{w}: {t}\n[00:0{b // 1000}.00]\n"),
    "sub": "{1}{1}25\n" + _rows(lambda a, b, w, t: f"{{{a // 40}}}{{{b // 40}}}{w}: {t}\n"),
    "srt": _rows(lambda a, b, w, t: f"1\n{_clock(a)} --> {_clock(b)}\n{w}: {t}\n\n"),
    "sbv": _rows(lambda a, b, w, t: f"{_clock(a, '.')},{_clock(b, '.')}\n{w}: {t}\n\n"),
    "txt": _rows(lambda a, b, w, t: f"{w} 00:0{a // 1000}\n{t}\n\n00:0{b // 1000}\n"),
}

TABLE = """
format  text   times  speakers  encodings
json3   exact  exact  exact     8 of 8
vtt     exact  exact  exact     8 of 8
ass     exact  exact  exact     8 of 8
smi     exact  exact  exact     8 of 8
ttml    exact  exact  exact     8 of 8
srv     exact  exact  exact     8 of 8
lrc     exact  exact  exact     8 of 8
sub     exact  exact  exact     8 of 8
srt     exact  exact  exact     8 of 8
sbv     exact  exact  exact     8 of 8
txt     exact  exact  exact     8 of 8
"""


def row(format: str) -> str:
    text = FILES[format]
    found = parse_captions(text.encode(), format, path=format)
    parts = {
        "text": [cue.text for cue in found] == [line[3] for line in LINES],
        "times": [(cue.start_ms, cue.end_ms) for cue in found] == [line[:2] for line in LINES],
        "speakers": [cue.speaker for cue in found] == [line[2] for line in LINES],
    }
    right = sum(decode(text.encode(name), path=format).text == text for name in ENCODINGS)
    exact = {name: "exact" if is_exact else "not" for name, is_exact in parts.items()}
    return f"{format:8}{exact['text']:7}{exact['times']:7}{exact['speakers']:10}{right} of {len(ENCODINGS)}"


def test_each_format_keeps_text_times_and_speakers_in_each_encoding() -> None:
    table = "\n".join(["", "format  text   times  speakers  encodings", *map(row, FORMATS), ""])
    assert table == TABLE
