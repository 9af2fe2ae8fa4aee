"""Invented videos, windows and caption folders, and dumps of a library, for tests of the later stages."""

import random
import signal
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from os import kill
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.values import Line, Morphemes, Track, Video, Window
from subtitle_rag.base.hosting.entry import host_entry
from subtitle_rag.library.context_store import Context
from tests.support.hosts_in_process import HOSTS
from tests.support.rolling import to_rolling_vtt

RULE = "rule-1"

_WORDS = """
    오늘 어제 내일 아침 점심 저녁 바다 시장 골목 할머니 삼촌 친구 고양이 강아지 국수 김밥 만두 떡볶이 칼국수 수제비
    청귤 간장 고춧가루 참기름 냄비 도마 접시 자전거 버스 기차 우산 장갑 목도리 편지 사진 노래 그림 의자 창문 마당
    먹었어요 샀어요 걸었어요 봤어요 끓였어요 썰었어요 웃었어요 달렸어요 잃어버렸어요 찾았어요 맛있어요 매워요 추워요
    진짜 정말 조금 아주 다시 같이 천천히 갑자기 그래서 그런데 python 와이파이 10킬로 스무살
"""
WORDS = _WORDS.split()


def video(id: str = "video-00001", **changes: Any) -> Video:
    values = {"id": id, "title": f"제목 {id}", "channel_id": "channel", "channel": "느린 부엌", **changes}
    return Video(**values)


def track(raw: bytes = b"WEBVTT\n") -> Track:
    return Track("ko", "file", "vtt", raw, sha256(raw).hexdigest(), 1_700_000_000)


def window(video_id: str, ordinal: int, text: str = "국수를 먹었어요") -> Window:
    start = ordinal * 60_000
    id = f"{video_id}/{ordinal}"
    return Window(id, video_id, ordinal, start, start + 60_000, text, (Line(0, start),), "앞", "뒤")


def windows(video_id: str, count: int) -> list[Window]:
    return [window(video_id, ordinal) for ordinal in range(count)]


def context(window_id: str, video_id: str, text: str = "국수를 삶는 장면입니다.", **changes: Any) -> Context:
    """Return a model's first answer for a window."""
    key = f"{sha256(text.encode()).hexdigest()[:8]} {window_id}"
    made = Context(
        *(key, window_id, video_id, "writer:q4", "digest-1", "ko1", "full", 7, text, text, ()),
        *(100, 10, 1_000, 1_500),
        tries=1,
        stale=False,
        written_at=1_800_000_000,
    )
    return replace(made, **changes)


def context_of(window: Window, text: str, *, model: str = "gemma3:4b", written_at: int = 1_700_000_000) -> Context:
    key = sha256(f"{window.id} {model}".encode()).hexdigest()[:32]
    return context(window.id, window.video_id, text, key=key, model=model, written_at=written_at)


def analysis(*forms: str) -> Morphemes:
    return Morphemes(forms, tuple(range(len(forms))), tuple(range(1, len(forms) + 1)))


def caption_text(rng: random.Random, minutes: float) -> str:
    """Return a track of invented sentences in rolling captions."""
    lines: list[list[tuple[int, str]]] = []
    at = 0
    while at < minutes * 60_000:
        words = rng.choices(WORDS, k=rng.randint(3, 7))
        lines.append([(at + 250 * place, word) for place, word in enumerate(words)])
        at += 250 * len(words) + rng.choice((200, 400, 2_500))
    return to_rolling_vtt(lines, end_ms=at)


def caption_folder(folder: Path, videos: int, *, minutes: float, seed: int = 7) -> Path:
    """Make a folder of caption files with yt-dlp's names."""
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(videos):
        name = f"영상 {number} [invented{number:03d}].ko.vtt"
        (folder / name).write_text(caption_text(rng, minutes), encoding="utf-8")
    return folder


def dump(library: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table, by primary key."""
    db = sqlite3.connect(library)
    try:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
        # FTS5's form of `said`, and the numbers of its videos, depend on the order of insertion
        rows = {name: sorted(db.execute(f"SELECT * FROM {name}")) for name in tables if not name.startswith("said")}
        db.execute("CREATE VIRTUAL TABLE temp.said_terms USING fts5vocab('main', 'said', 'instance')")
        said = "SELECT video_id, doc & 0xfffff, term FROM temp.said_terms JOIN said_video ON number = doc >> 20"
        return rows | {"said": sorted(db.execute(said))}
    finally:
        db.close()


def came_true(condition: Callable[[], bool], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def alive(pid: int) -> bool:
    try:
        kill(pid, 0)
    except ProcessLookupError:
        return False
    try:  # an orphan that has ended stays a zombie until init reaps it
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return Path("/proc/self").exists() is False


def end_hosts(indexes: Sequence[Path]) -> None:
    """End the hosts of these index folders, no matter who started them."""
    others = [folder for folder in indexes if not HOSTS.end(folder)]
    for pid in [entry["pid"] for folder in others if (entry := host_entry(folder))]:
        try:
            kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            continue
        # a host that is importing PyTorch on a busy machine ends only afterwards
        assert came_true(lambda pid=pid: not alive(pid), 60), f"host {pid} stays"  # type: ignore[misc]
