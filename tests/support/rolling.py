"""Writer of YouTube's automatic captions: rolling WebVTT, and json3.

Lines are lists of (start in ms, word), in order of time. A line takes more than 10 ms, since its last 10 ms are the
settled repeat.
"""

import json
from collections.abc import Collection, Sequence

Lines = Sequence[Sequence[tuple[int, str]]]

SETTLED_MS = 10


def to_rolling_vtt(lines: Lines, *, end_ms: int, cleared: Collection[int] = (), held: Collection[int] = ()) -> str:
    """Return `lines` as a rolling WebVTT file that ends at `end_ms`.

    After the lines with an index in `cleared` the screen is cleared; after those in `held` the settled line stays alone
    for half of the pause before the next one. A line of one word has no inline times.
    """
    cues: list[str] = []
    above = " "
    for index, line in enumerate(lines):
        start = line[0][0]
        following = lines[index + 1][0][0] if index + 1 < len(lines) else end_ms
        last = index + 1 == len(lines)
        settled_from = following if last else following - SETTLED_MS
        if index in held and not last:
            settled_from = (line[-1][0] + following) // 2
        cues.append(_cue(start, settled_from, above, _spoken(line)))
        above = " " if index in cleared else escape(" ".join(word for _start, word in line))
        if not last:
            cues.append(_cue(settled_from, following, above, " "))
    return "WEBVTT\nKind: captions\nLanguage: ko\n\n" + "".join(cues)


def to_json3(lines: Lines, end_ms: int) -> str:
    """Return the same track in YouTube's json3: a window, a line with its segments, a line feed before the next one."""
    events: list[dict[str, object]] = [
        {"tStartMs": 0, "dDurationMs": end_ms, "id": 1, "wpWinPosId": 1, "wsWinStyleId": 1}
    ]
    starts = [line[0][0] for line in lines] + [end_ms]
    for index, line in enumerate(lines):
        start = starts[index]
        gone = starts[min(index + 2, len(lines))]
        if index:
            feed = {"tStartMs": start - SETTLED_MS, "dDurationMs": starts[index + 1] - start + SETTLED_MS}
            events.append({**feed, "wWinId": 1, "aAppend": 1, "segs": [{"utf8": "\n"}]})
        segs: list[dict[str, object]] = [{"utf8": line[0][1], "acAsrConf": 0}]
        segs += [{"utf8": f" {word}", "tOffsetMs": at - start, "acAsrConf": 0} for at, word in line[1:]]
        events.append({"tStartMs": start, "dDurationMs": gone - start, "wWinId": 1, "segs": segs})
    track = {
        "wireMagic": "pb3",
        "pens": [{}],
        "wsWinStyles": [{}, {"mhModeHint": 2, "juJustifCode": 0, "sdScrollDir": 3}],
        "wpWinPositions": [{}, {"apPoint": 6, "ahHorPos": 20, "avVerPos": 100, "rcRows": 2, "ccCols": 40}],
        "events": events,
    }
    return json.dumps(track, ensure_ascii=False)


def escape(text: str) -> str:
    """Return `text` with the entities of YouTube's WebVTT."""
    for raw, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\u00a0", "&nbsp;")):
        text = text.replace(raw, entity)
    return text


def stamp(ms: int) -> str:
    """Return `ms` in WebVTT's form: 00:01:02.345."""
    minutes, rest = divmod(ms, 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1000:02d}.{rest % 1000:03d}"


def _spoken(line: Sequence[tuple[int, str]]) -> str:
    first, *others = line
    return escape(first[1]) + "".join(f"<{stamp(at)}><c> {escape(word)}</c>" for at, word in others)


def _cue(start: int, end: int, upper: str, lower: str) -> str:
    return f"{stamp(start)} --> {stamp(end)} align:start position:0%\n{upper}\n{lower}\n\n"
