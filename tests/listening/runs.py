"""Runs of the stage of listening, by the transcriber that reads in a file what is said in it."""

import threading

from subtitle_rag.base.domain.events import ListeningEvent, ListeningReport
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.listening.listener import Listener
from subtitle_rag.listening.listening_plan import plan_listening, request_listening
from tests.stand_ins.youtube import QUICK
from tests.support.heard import Reader
from tests.support.place import Place


def listener(place: Place, model: str = "reader", stop: threading.Event | None = None) -> Listener:
    folder = place.folder / "sounds"
    return Listener(place.library, place.indexer, Reader(model), QUICK, folder, stop or threading.Event())


def asked(place: Place, *named: object, again: bool = False) -> list[str]:
    """Ask for what paths and addresses name; return the ids of the videos."""
    plan = plan_listening(place.library, map(str, named), again=again)
    request_listening(place.library, plan)
    return [video.id for video in plan.videos]


def run(place: Place, model: str = "reader") -> list[ListeningEvent]:
    return list(listener(place, model).run())


def run_first_stretch(place: Place) -> None:
    """A run that is stopped once its first stretch is stored."""
    stop = threading.Event()
    for event in listener(place, stop=stop).run():
        if isinstance(event, Progress) and event.stage == "listening":
            stop.set()


def report(events: list[ListeningEvent]) -> ListeningReport:
    last = events[-1]
    assert isinstance(last, ListeningReport)
    return last
