"""The work of one Ollama host on its share of the videos: requests, retries, and the contexts made of its answers."""

import hashlib
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from subtitle_rag.contexts import context_prompt
from subtitle_rag.contexts.cleaning import clean
from subtitle_rag.contexts.grounding import doubts
from subtitle_rag.domain import Video, Window
from subtitle_rag.errors import AppError
from subtitle_rag.events import ContextEvent, ContextFailed, ContextWritten
from subtitle_rag.library.context_store import TRIES, Context, Recipe
from subtitle_rag.library.store import Library
from subtitle_rag.llm import Llm, ModelInfo, Reply
from subtitle_rag.platforms import wait_for

logger = logging.getLogger(__name__)

SEEDS = (7, 1_234)
"""Of the first try and of the second."""
REMINDER = "한국어 한두 문장으로, 이 구간이 영상의 어떤 부분인지 설명만 쓰세요."
ATTEMPTS = 3
"""Requests for one window that a server fails to answer."""
PATIENT_ATTEMPTS = 2
"""Of these, the requests with the full timeout."""
PATIENCE = 3
"""Windows in a row that a server fails to answer; then it is given up."""
REPLANS = 3
"""Times that a video is begun anew: the server counts more tokens than were reckoned, or its captions changed."""
FINAL = frozenset({"llm_out_of_memory", "llm_model_missing", "llm_cloud_refused"})
"""After these a server need not be asked again."""


class _HostDoneError(Exception):
    """The host is done: stopped, out of work, or given up."""


class _CaptionsChangedError(Exception):
    """The video has left, or it has other captions than those that the model was shown."""


@dataclass(slots=True)
class ContextHostRun:
    """Hold the shared state of the hosts of one run, the queue of videos above all."""

    library: Library
    recipe: Recipe
    model: str
    stop: threading.Event
    pause: float
    videos: deque[str]
    limit: int | None
    events: "queue.Queue[ContextEvent | BaseException]" = field(default_factory=queue.Queue)
    blocked: AppError | None = None
    """Why the latest host was given up."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    num_ctx: int = 0
    """The largest so far: going back to a smaller one would make the server load the model anew."""

    def work(self, host: Llm, info: ModelInfo) -> None:
        """Write contexts until the queue is empty; each host runs this in a thread of its own."""
        failed = 0
        try:
            while True:
                try:
                    video_id = self.videos.popleft()
                except IndexError:
                    return
                try:
                    failed = _VideoRun(self, host, info, failed).write(video_id)
                except _HostDoneError:
                    self.videos.appendleft(video_id)  # another host may go on with it
                    return
        except Exception as error:  # the thread that collects raises it
            self.events.put(error)
        finally:
            self.library.close()

    def check_open(self) -> None:
        """Raise `_HostDoneError` if no further window is to be written."""
        if self.stop.is_set() or self.limit == 0:
            raise _HostDoneError

    def take_window(self) -> None:
        """Count a window against the limit; raise as `check_open` does."""
        with self.lock:
            self.check_open()
            if self.limit is not None:
                self.limit -= 1

    def return_window(self) -> None:
        with self.lock:
            if self.limit is not None:
                self.limit += 1

    def give_up(self, error: AppError) -> None:
        self.blocked = error
        raise _HostDoneError


@dataclass(slots=True)
class _VideoRun:
    """Write the contexts of one video on one host."""

    run: ContextHostRun
    host: Llm
    info: ModelInfo
    failures_in_row: int
    """Windows that this host failed to answer, without one that it answered between."""
    transcript: str = ""
    """Names the captions that the model is shown."""
    text_hash: str = ""
    """A hash of their text, as prompts have it."""

    def write(self, video_id: str) -> int:
        """Write the missing contexts of a video, in order; return the failures in a row at its end."""
        for replanned in range(REPLANS + 1):
            self.transcript = self.run.library.contexts.transcript(video_id)  # before the windows: changes are noticed
            video = self.run.library.video(video_id)
            if video is None:
                break
            try:
                self._write_missing(video, self.run.library.windows_of(video_id))
                break
            except _CaptionsChangedError:
                continue
            except AppError as error:
                if error.code != "llm_overflow":
                    raise
                logger.info("%s does not fit, attempt %d", video_id, replanned + 1, exc_info=True)
                if replanned == REPLANS:
                    self.run.events.put(ContextFailed(video.id, video.title, error.code, error.details))
                    return self.failures_in_row
                self._token_ratio.learn_overflow(error.details["n_prompt_tokens"], error.details["characters"])
        return self.failures_in_row

    def _write_missing(self, video: Video, windows: Sequence[Window]) -> None:
        missing = self.run.library.contexts.missing(video.id, self.run.recipe)
        if not missing:
            return
        self.run.check_open()
        self.text_hash = context_prompt.transcript_hash(windows)
        plan = self._plan(video, windows)
        previous = ""
        for ordinal in (ordinal for block in plan.blocks for ordinal in block):
            window = windows[ordinal]
            if window.id in missing:
                self.run.take_window()
                try:
                    previous = self._window(video, windows, plan, ordinal, missing[window.id], previous)
                except (AppError, _CaptionsChangedError):  # it comes again
                    self.run.return_window()
                    raise

    def _plan(self, video: Video, windows: Sequence[Window]) -> context_prompt.PromptPlan:
        contexts = self.run.library.contexts
        plan = context_prompt.plan(
            video,
            windows,
            glossary=contexts.glossary(video.channel_id),
            tokens_per_char=self._token_ratio.value,
            largest=min(context_prompt.BUCKETS[-1], self.info.context_length or context_prompt.BUCKETS[-1]),
        )
        self.run.num_ctx = max(self.run.num_ctx, plan.num_ctx)
        plan = replace(plan, num_ctx=self.run.num_ctx)
        return plan if plan.scope == "full" else plan.with_overview(self._overview(video, plan))

    def _overview(self, video: Video, plan: context_prompt.PromptPlan) -> str:
        """Summarise the sections of a long video; the library keeps the summary."""
        key = _key(self.run.recipe, video.id, self.text_hash)
        stored = self.run.library.contexts.overview(key)
        if stored is not None:
            return stored
        replies = [self._request(messages, plan.num_ctx, SEEDS[0]) for messages in plan.overview_requests()]
        answered = [reply for reply in replies if isinstance(reply, Reply)]
        text = "\n".join(filter(None, (clean(reply.text) for reply in answered)))
        if len(answered) == len(replies):
            self.run.library.contexts.put_overview(key, video.id, text)
        return text

    def _window(
        self,
        video: Video,
        windows: Sequence[Window],
        plan: context_prompt.PromptPlan,
        ordinal: int,
        tries: int,
        previous: str,
    ) -> str:
        """Write one window's context; if the first answer cannot be used, ask again with another seed."""
        window = windows[ordinal]
        for number in range(tries, TRIES):
            messages = plan.messages(ordinal, reminder=REMINDER if number else "")
            reply = self._request(messages, plan.num_ctx, SEEDS[number])
            if isinstance(reply, AppError):
                self.run.events.put(ContextFailed(video.id, video.title, reply.code, reply.details))
                return previous
            self._token_ratio.learn(reply.prompt_tokens, len(messages.system) + len(messages.user))
            text = clean(reply.text, window=window.text)
            context = self._context(window, plan.scope, number, text, reply)
            context = replace(context, doubts=self._doubts(video, windows, window, text, previous))
            if not self.run.library.contexts.put(context, self.transcript):
                raise _CaptionsChangedError
            if text or number + 1 == TRIES:
                self.run.events.put(_written_event(video, window, context))
            if text:
                return text
        return previous

    def _context(self, window: Window, scope: str, number: int, text: str, reply: Reply) -> Context:
        recipe = self.run.recipe
        return Context(
            key=_key(recipe, window.id, self.text_hash),
            window_id=window.id,
            video_id=window.video_id,
            model=self.run.model,
            digest=recipe.digest,
            prompt=recipe.prompt,
            scope=scope,
            seed=SEEDS[number],
            text=text,
            raw=reply.text,
            doubts=(),
            prompt_tokens=reply.prompt_tokens,
            tokens=reply.tokens,
            prompt_ms=reply.prompt_ms,
            ms=reply.ms,
            tries=number + 1,
            stale=False,
            written_at=int(time.time()),
        )

    def _doubts(
        self, video: Video, windows: Sequence[Window], window: Window, text: str, previous: str
    ) -> tuple[tuple[str, str], ...]:
        if not text:
            return ()
        doubts_found = doubts(
            text,
            transcript=" ".join(window.text for window in windows),
            title=_head(video),
            glossary=self.run.library.contexts.glossary(video.channel_id),
            window=window.text,
            previous=previous,
        )
        return tuple((doubt.kind, doubt.text) for doubt in doubts_found)

    def _request(self, messages: context_prompt.Messages, num_ctx: int, seed: int) -> Reply | AppError:
        """Ask the host, with retries; return its reply, or its last failure."""
        attempt = 1
        while True:
            try:
                reply = self.host.chat(
                    messages.as_list(),
                    model=self.run.model,
                    num_ctx=num_ctx,
                    num_predict=context_prompt.NUM_PREDICT,
                    seed=seed,
                    schema=context_prompt.SCHEMA,
                    stop=self.run.stop,
                )
            except AppError as error:
                logger.info("attempt %d gave no answer", attempt, exc_info=True)
                last = attempt == (PATIENT_ATTEMPTS if error.code == "llm_timeout" else ATTEMPTS)
                self._raise_unless_retryable(error, messages, last=last)
                if last:
                    self.failures_in_row += 1
                    return error
                if wait_for(self.run.stop, self.run.pause * 2 ** (attempt - 1)):
                    raise _HostDoneError from error
                attempt += 1
            else:
                self.failures_in_row = 0
                return reply

    def _raise_unless_retryable(self, error: AppError, messages: context_prompt.Messages, *, last: bool) -> None:
        """Raise what ends the video or the host; return if a retry may help."""
        if self.run.stop.is_set() or error.code == "llm_stopped":
            raise _HostDoneError from error
        if error.code == "llm_overflow":
            error.details["characters"] = len(messages.system) + len(messages.user)
            raise error
        silent = error.code == "llm_not_running" or self.failures_in_row + 1 >= PATIENCE
        if error.code in FINAL or (last and silent):
            self.run.give_up(error)

    @property
    def _token_ratio(self) -> context_prompt.TokenRatio:
        return context_prompt.TokenRatio(self.run.library.contexts, self.run.recipe.digest)


def _key(recipe: Recipe, *parts: str) -> str:
    return hashlib.sha256("\x1f".join((recipe.digest, recipe.prompt, *parts)).encode()).hexdigest()[:32]


def _head(video: Video) -> str:
    """Return the head of a video's prompt as one line."""
    chapters = (chapter.title for chapter in video.chapters)
    return " ".join([video.title, video.channel, str(video.published or ""), *chapters])


def _written_event(video: Video, window: Window, context: Context) -> ContextWritten:
    return ContextWritten(
        video=video.id,
        title=video.title,
        window=window.id,
        ordinal=window.ordinal,
        text=context.text,
        suspect=bool(context.doubts),
        prompt_tokens=context.prompt_tokens,
        tokens=context.tokens,
        ms=context.ms,
    )
