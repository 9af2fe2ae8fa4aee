"""JSON Lines files: questions with the ranges that answer them, answers, contexts."""

import json
from pathlib import Path
from typing import Any


def question(
    id: str, query: str, *gold: tuple[str, float, float], kind: str = "keyword", **more: Any
) -> dict[str, Any]:
    """Return a question that each of these stretches of a video answers."""
    ranges = [{"video": video, "start": start, "end": end} for video, start, end in gold]
    return {"id": id, "query": query, "kind": kind, "gold": ranges, **more}


def write_lines(path: Path, *lines: object) -> Path:
    """Write one JSON value per line; strings are written as they are."""
    texts = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    path.write_text("\n".join(texts), encoding="utf-8")
    return path
