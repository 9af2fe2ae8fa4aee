"""Public interface for scripts: `subtitle_rag.open` returns an `OpenLibrary`.

Names and values here are a contract, like the command line's JSON. Everything else in this package may change.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.answer_values import Answer
from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.domain.events import IndexReport
from subtitle_rag.base.domain.values import Video

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.search.scenes import Scene


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """The result of indexing."""

    new: int
    changed: int
    unchanged: int
    windows: int
    """Windows that became searchable."""
    failures: tuple[AppError, ...]
    """Failures of single videos; the others were indexed."""


class OpenLibrary:
    """An open library: a context manager, or closed by `close`. Thread-safe.

    Every method can raise `subtitle_rag.AppError` with a stable `code`; `message` and `hint` are for people.
    """

    def __init__(self, runtime: "Runtime") -> None:
        self._runtime = runtime

    def __enter__(self) -> "OpenLibrary":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the library; its next use opens it again."""
        self._runtime.close()

    @property
    def videos(self) -> tuple[Video, ...]:
        return tuple(state.video for state in self._runtime.library.videos())

    def index(self, *sources: str | Path) -> IndexSummary:
        """Index caption files, folders, or addresses on YouTube.

        Raises:
            UsageError: `unsupported_source`, `unsupported_url`, `no_caption_files`.
            BusyError: `busy` while another process indexes.
        """
        from subtitle_rag.workflows import pipeline
        from subtitle_rag.workflows.requests import parse_request

        *_events, total = pipeline.read_captions(self._runtime, parse_request(map(str, sources)))
        assert isinstance(total, IndexReport)
        failures = tuple(AppError(each.code, **each.details) for each in total.failures)
        if total.blocked:
            failures += (AppError(total.blocked.code, **total.blocked.details),)
        return IndexSummary(total.new, total.changed, total.unchanged, total.windows, failures)

    def search(
        self,
        query: str,
        *,
        limit: int = 20,
        channels: Iterable[str] = (),
        videos: Iterable[str] = (),
        after: date | None = None,
        before: date | None = None,
        rerank: bool = True,
    ) -> "tuple[Scene, ...]":
        """Return the best scenes by all ready retrievers.

        Args:
            query: Words, phrases, `-word` and filters, as in the app.
            limit: Most scenes.
            channels: Ids, names or parts of names.
            videos: Ids, titles or parts of titles.
            after: First day of publication.
            before: Last day of publication.
            rerank: Whether to rerank, if a reranker is installed.

        Returns:
            The scenes, best first.

        Raises:
            UsageError: `unknown`, and the errors of an invalid query.
        """
        from subtitle_rag.search.query import parse_filtered

        parsed = parse_filtered(query, channels, videos, _day(after), _day(before))
        self._runtime.renew_small_index()
        return self._runtime.searcher.search(parsed, limit=limit, rerank=rerank).scenes

    def ask(self, question: str, *, channels: Iterable[str] = (), videos: Iterable[str] = ()) -> Answer:
        """Answer a question from the best scenes with the local model, with checked citations.

        Without a model `ending` is `no_model`, and `evidence.sources` has the scenes.

        Raises:
            UsageError: As in `search`.
            AppError: The failure that ended the answer.
        """
        from subtitle_rag.search.query import parse_filtered

        self._runtime.renew_small_index()
        with self._runtime.answerer() as answerer:
            *_events, answer = answerer.conversation().ask(parse_filtered(question, channels, videos))
        assert isinstance(answer, Answer)
        if answer.ending == "failed" and answer.error is not None:
            raise answer.error
        return answer

    def export(self, scenes: "Sequence[Scene]", file: str | Path | None = None, *, format: str | None = None) -> str:
        """Return scenes as text in a format of `subtitle-rag export`, and write them to `file` if given.

        Without a format, the file's extension decides; Markdown without one.

        Raises:
            UsageError: `unknown_value`, `export_without_file`, `nothing_chosen`.
            AppError: `unwritable`, `plugin_broken`.
        """
        from subtitle_rag.sharing.export_formats import format_of_file, is_binary, render_export, write_export
        from subtitle_rag.sharing.scene_reader import read_scenes, scene_span

        path = None if file is None else Path(file).expanduser()
        format = format or format_of_file(path)
        if path is None and is_binary(format):
            raise UsageError("export_without_file", format=format)
        library = self._runtime.library
        spans = [scene_span(library, scene) for scene in scenes]
        export = render_export(format, read_scenes(library, spans), None)
        if path is not None:
            write_export(path, export)
        return export.text


def open(home: str | Path | None = None) -> OpenLibrary:
    """Open your library, or the one under `home`.

    Raises:
        UsageError: `bad_config`.
    """
    from subtitle_rag.base.config import settings
    from subtitle_rag.runtime import Runtime

    return OpenLibrary(Runtime(settings.load(home)))


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None
