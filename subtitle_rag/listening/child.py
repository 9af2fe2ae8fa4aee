"""Work of the transcribing process."""

import json
import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from subtitle_rag.base import i18n
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import HeardStretch
from subtitle_rag.base.garbage import tune_garbage_collector
from subtitle_rag.base.log_file import join_log
from subtitle_rag.base.platforms import step_back
from subtitle_rag.listening.sound_file import SoundFile

logger = logging.getLogger(__name__)

NICENESS = 10
OOM_SCORE = 800


def main() -> int:
    """Carry out the job on stdin."""
    # text printed by a library must not break a reply
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    order = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _prepare()

    def reply(values: dict[str, Any]) -> None:
        replies.write(json.dumps(values, ensure_ascii=False) + "\n")
        replies.flush()

    with join_log(order.pop("log"), "listening"):
        try:
            _answer(order, reply)
            reply({"state": "done"})
        except AppError as error:
            reply({"error": error.code, "details": error.details})
        except MemoryError:
            logger.warning("no memory is left", exc_info=True)
            reply(
                {
                    "error": "listening_memory",
                    "details": {"path": order.get("sound", "-"), "model": order.get("model", "-")},
                }
            )
    return 0


def _answer(order: dict[str, Any], reply: Callable[[dict[str, Any]], None]) -> None:
    if order["do"] == "measure all":
        for path in order["sounds"]:
            reply({"state": "reading"})
            with suppress(AppError), SoundFile(Path(path)) as sound:
                reply({"sound": path, "length_ms": sound.length_ms()})
        return
    reply({"state": "reading"})
    with SoundFile(Path(order["sound"])) as sound:
        if order["do"] == "measure":
            reply({"length_ms": sound.length_ms()})
            return
        from subtitle_rag.listening.stretches import SoundListener, SpokenLanguage
        from subtitle_rag.listening.whisper import Whisper

        reply({"state": "thinking"})
        model = Whisper(Path(order["model"]))
        language = SpokenLanguage(order["language"])
        listener = SoundListener(sound, model, order["names"], language, lambda: reply({"state": "thinking"}))
        for stretch in listener.stretches(order["begin_ms"]):
            reply(to_json(stretch))


def to_json(stretch: HeardStretch) -> dict[str, Any]:
    """Return a stretch in the JSON form that the parent reads."""
    cues = [cue.to_record() for cue in stretch.cues]
    values = {"begin_ms": stretch.begin_ms, "end_ms": stretch.end_ms, "cues": cues}
    return {**values, "gap": stretch.gap and stretch.gap.value, "language": stretch.language}


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def _prepare() -> None:
    """Use the parent's language, stay offline, and yield processor and memory to other programs."""
    tune_garbage_collector()
    i18n.activate(i18n.system_language())
    os.environ["HF_HUB_OFFLINE"] = "1"  # models are loaded from folders
    step_back(NICENESS, OOM_SCORE)
