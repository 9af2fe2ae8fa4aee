"""Work of one Ollama host on its videos: requests, retries, and contexts from its answers."""

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.events import (
    ContextEvent,
    ContextWritten,
    OverviewWritten,
    SummaryWritten,
    VideoFailed,
)
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import Video, Window
from subtitle_rag.base.i18n import _
from subtitle_rag.base.platforms import wait_for
from subtitle_rag.contexts import context_prompt
from subtitle_rag.contexts.answer_check import AnswerCheck, ContextWords, Doubts
from subtitle_rag.contexts.context_text import reading_text
from subtitle_rag.contexts.planning import (
    Planner,
    context_key,
    overview_key,
    prompt_sizes,
)
from subtitle_rag.contexts.prompt_layout import ContextPrompt, estimate
from subtitle_rag.contexts.token_rate import TokenRate
from subtitle_rag.korean.morphemes import SentenceAnalyzer
from subtitle_rag.library.context_store import TRIES, Context, OverviewSection, Recipe, WindowSelection
from subtitle_rag.library.store import Library
from subtitle_rag.library.summary_store import VideoSummary
from subtitle_rag.models.ollama.llm_client import Llm
from subtitle_rag.models.ollama.responses import ModelInfo, Reply

logger = logging.getLogger(__name__)

SEEDS = (7, 1_234)
"""Seeds of the first and second attempt."""
REMINDER = "한국어 한두 문장으로, 이 구간이 영상의 어떤 부분인지 설명만 쓰세요."
SUMMARY_REMINDER = "한국어 두 문장에서 네 문장으로, 영상 전체의 요약만 쓰세요."
ATTEMPTS = 3
"""Maximum requests for a window that a server fails to answer."""
PATIENT_ATTEMPTS = 2
"""Requests of `ATTEMPTS` with the full timeout."""
PATIENCE = 3
"""Consecutive windows that a server fails to answer before it is given up."""
SPEED_TOKENS = 500
"""Minimum new tokens of a prompt to measure a model's speed."""
UNUSABLE = 20
"""Consecutive windows without a usable answer before the model is given up, since a library takes hours."""
REPLANS = 3
"""Maximum restarts of a video, after the server counted more tokens than estimated or the captions changed."""
FINAL = frozenset({"llm_out_of_memory", "llm_model_missing", "llm_cloud_refused", "contexts_unusable"})
"""Failures after which the server need not be tried again."""


class _HostDoneError(Exception):
    """The host is done: stopped, out of work, or given up for a `reason`."""

    def __init__(self, reason: AppError | None = None) -> None:
        super().__init__(reason)
        self.reason = reason


class _ReplanError(Exception):
    """The video must be planned again: its captions changed or were removed, or a prompt was too large for a host."""

    def __init__(self, failure: AppError | None = None, characters: int = 0) -> None:
        """Store the failure, `llm_overflow` or `llm_out_of_memory`, of a prompt with this many characters."""
        super().__init__(failure)
        self.failure = failure
        self.characters = characters


@dataclass(frozen=True, slots=True)
class ContextTask:
    """The missing contexts of a run, with model and prompt, and the hosts that have the model."""

    model: str
    ready: Sequence[tuple[Llm, ModelInfo]]
    recipe: Recipe
    prompt: ContextPrompt
    windows: Mapping[str, int]
    """Video → windows; 0: only its summary."""
    summaries: int = 0
    by_other_prompts: int = 0
    """Windows with a context by another prompt."""


@dataclass(slots=True)
class ContextHostRun:
    """Shared state of a run's hosts, above all the queue of videos."""

    library: Library
    task: ContextTask
    stop: threading.Event
    analyzer: SentenceAnalyzer
    pause: float
    limit: int | None
    answered: Callable[[Context], object] | None = None
    """Called with every answer before it is stored, even one to be requested again, from the hosts' threads."""
    with_summaries: bool = False
    """Whether each video is summarised after its windows."""
    num_ctx: int = field(default=0, init=False)
    """The largest so far; going back to a smaller one would reload the model."""
    events: "queue.Queue[ContextEvent | BaseException]" = field(default_factory=queue.Queue)
    blocked: AppError | None = None
    """Why the latest host was given up."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    takes_large: bool = True
    """Whether videos beyond the usual prompt sizes may be shown whole."""
    videos: deque[str] = field(init=False)
    """Videos waiting for a host."""
    unusable_in_row: int = field(default=0, init=False)
    """Consecutive windows without a usable answer, over all hosts."""
    words: ContextWords = field(init=False)
    """Words of all contexts, by window."""
    summary_words: ContextWords = field(init=False)
    """Words of all summaries, by video."""

    def __post_init__(self) -> None:
        self.videos = deque(self.task.windows)
        self.words = ContextWords(self.library.contexts.texts)
        self.summary_words = ContextWords(self.library.summaries.all)

    def work(self, host: Llm, info: ModelInfo) -> None:
        """Write contexts until the queue is empty; each host runs this in its own thread."""
        try:
            rate = TokenRate(self.library.contexts, self.task.recipe.digest)
            requests = _HostRequests(
                host, info, rate, self.stop, self.pause, self.events, prompt_sizes(host, info).least
            )
            while True:
                try:
                    video_id = self.videos.popleft()
                except IndexError:
                    return
                try:
                    self._write(video_id, requests)
                except _HostDoneError as done:
                    self.blocked = done.reason or self.blocked
                    self.videos.appendleft(video_id)  # another host may continue it
                    return
        except Exception as error:  # raised again in the collecting thread
            self.events.put(error)
        finally:
            self.library.close()

    def _write(self, video_id: str, requests: "_HostRequests") -> None:
        """Write the missing contexts of a video, in order; plan it again if that helps."""
        for replanned in range(REPLANS + 1):
            transcript = self.library.contexts.transcript(video_id)  # before the windows, so that changes are noticed
            video = self.library.video(video_id)
            if video is None:
                return
            try:
                _VideoRun(self, requests, transcript, video, self.library.windows_of(video_id)).write_missing()
                return
            except _ReplanError as replan:
                failure = replan.failure
                if failure is None:
                    continue
                logger.info("%s does not fit, attempt %d", video_id, replanned + 1, exc_info=True)
                if failure.code == "llm_out_of_memory":
                    self.takes_large, self.num_ctx, requests.least_num_ctx = False, 0, 0
                elif replanned == REPLANS:
                    self.events.put(VideoFailed(video.id, video.title, failure.code, failure.details))
                else:
                    requests.rate.learn_overflow(failure.details["n_prompt_tokens"], replan.characters)

    def check_open(self) -> None:
        """Raise `_HostDoneError` if no further window may be written."""
        if self.stop.is_set() or self.limit == 0:
            raise _HostDoneError

    def take_window(self) -> None:
        """Count a window against the limit. Raises like `check_open`."""
        with self.lock:
            self.check_open()
            if self.limit is not None:
                self.limit -= 1

    def return_window(self) -> None:
        with self.lock:
            if self.limit is not None:
                self.limit += 1

    def count_answer(self, *, usable: bool) -> None:
        """Count a window with its final answer. Raises `_HostDoneError` if the model must be given up."""
        with self.lock:
            self.unusable_in_row = 0 if usable else self.unusable_in_row + 1
            if self.unusable_in_row >= UNUSABLE:
                raise _HostDoneError(AppError("contexts_unusable", model=self.task.model, n=self.unusable_in_row))


@dataclass(slots=True)
class _HostRequests:
    """Requests to one host, with retries."""

    host: Llm
    info: ModelInfo
    rate: TokenRate
    stop: threading.Event
    pause: float
    events: "queue.Queue[ContextEvent | BaseException]"
    least_num_ctx: int
    """The value that answers use with this model, too; 0 once that has proved too large."""
    failures_in_row: int = 0
    """Consecutive windows that the host failed to answer."""
    prefix: tuple[str, int] = ("", 0)
    """The system message of the last answered request, and its `num_ctx`: the server has it cached."""
    speed: float = 0.0
    """Tokens per second of the run's last long prompt; 0 before one."""

    def ask(
        self,
        video: Video,
        messages: context_prompt.Messages,
        num_ctx: int,
        seed: int,
        is_useless: Callable[[str], bool] | None = None,
    ) -> Reply | AppError:
        """Ask the host about a video, with retries; return its reply, or its last failure.

        Raises `_ReplanError` and `_HostDoneError`.

        Args:
            video: the video.
            messages: the prompt.
            num_ctx: context of the request.
            seed: makes the answer reproducible.
            is_useless: see `Llm.chat`.
        """
        tokens = self._unread_tokens(messages, num_ctx)
        seconds = round(tokens / self.speed) if self.speed else 0
        attempt = 1
        while True:
            self._tell(video, reading_text(tokens, seconds, attempt))
            try:
                reply = self.host.chat(
                    messages.as_list(),
                    model=self.info.name,
                    num_ctx=num_ctx,
                    num_predict=messages.num_predict,
                    seed=seed,
                    schema=messages.schema,
                    stop=self.stop,
                    on_text=self._on_first_text(video),
                    is_useless=is_useless,
                )
            except AppError as error:
                logger.info("attempt %d gave no answer", attempt, exc_info=True)
                is_last = attempt == (PATIENT_ATTEMPTS if error.code == "llm_timeout" else ATTEMPTS)
                self._raise_unless_retryable(error, messages, num_ctx, is_last=is_last)
                if is_last:
                    self.failures_in_row += 1
                    return error
                pause = self.pause * 2 ** (attempt - 1)
                attempt += 1
                self._tell(video, _("attempt {n} in {seconds} s").format(n=attempt, seconds=round(pause)))
                if wait_for(self.stop, pause):
                    raise _HostDoneError from error
            else:
                self.failures_in_row = 0
                self._measure_speed(reply, tokens)
                self.prefix = messages.system, num_ctx
                return reply

    def _unread_tokens(self, messages: context_prompt.Messages, num_ctx: int) -> int:
        """Return the estimated tokens of a prompt that the server does not have cached."""
        is_read = self.prefix == (messages.system, num_ctx)
        unread = messages.user if is_read else messages.system + messages.user
        return estimate(unread, self.rate.tokens_per_char)

    def _measure_speed(self, reply: Reply, unread: int) -> None:
        """Record the speed of a long prompt; `unread` estimates its new tokens, which some servers do not report."""
        tokens = unread if reply.cached_tokens is None else reply.prompt_tokens - reply.cached_tokens
        if tokens >= SPEED_TOKENS and reply.prompt_ms > 0:
            self.speed = 1000 * tokens / reply.prompt_ms

    def _tell(self, video: Video, activity: str) -> None:
        """Report what the model is doing now; the run adds its counts."""
        self.events.put(Progress("contexts", text=video.title, activity=activity, since=time.monotonic()))

    def _on_first_text(self, video: Video) -> Callable[[str], None]:
        """Return a function that reports once that the answer begins."""
        is_told = threading.Event()

        def post(_text: str) -> None:
            if not is_told.is_set():
                is_told.set()
                self._tell(video, _("the model writes"))

        return post

    def _raise_unless_retryable(
        self, error: AppError, messages: context_prompt.Messages, num_ctx: int, *, is_last: bool
    ) -> None:
        """Raise the error that ends the video or the host; return if a retry may help."""
        if self.stop.is_set() or error.code == "llm_stopped":
            raise _HostDoneError from error
        is_large = num_ctx > context_prompt.BUCKETS[-1] or num_ctx == self.least_num_ctx > context_prompt.BUCKETS[0]
        if error.code == "llm_overflow" or (error.code == "llm_out_of_memory" and is_large):
            raise _ReplanError(error, len(messages.system) + len(messages.user)) from error
        is_silent = error.code == "llm_not_running" or self.failures_in_row + 1 >= PATIENCE
        if error.code in FINAL or (is_last and is_silent):
            raise _HostDoneError(error) from error


@dataclass(slots=True)
class _VideoRun:
    """The contexts of one video, written on one host."""

    run: ContextHostRun
    requests: _HostRequests
    transcript: str
    """Id of the captions that the model sees."""
    video: Video
    windows: Sequence[Window]
    check: AnswerCheck = field(init=False)
    text_hash: str = field(init=False)
    """Hash of the captions' text, as in prompts."""

    def __post_init__(self) -> None:
        run = self.run
        prompt_texts = (*run.task.prompt.rules, REMINDER, SUMMARY_REMINDER, *context_prompt.INSTRUCTIONS)
        self.check = AnswerCheck(
            run.library, self.video, self.windows, run.words, run.summary_words, run.analyzer, prompt_texts
        )
        self.text_hash = context_prompt.transcript_hash(self.windows)

    def write_missing(self) -> None:
        """Write the missing contexts and the summary. Raises `_ReplanError` and `_HostDoneError`."""
        library, recipe, id = self.run.library, self.run.task.recipe, self.video.id
        missing = library.contexts.missing(id, recipe)
        summary_tries = None
        if self.run.with_summaries:
            of_video = WindowSelection(videos=(id,))
            summary_tries = library.summaries.missing(summary_recipe(recipe), of_video).get(id)
        if not self.windows or not (missing or summary_tries is not None):
            return
        self.run.check_open()
        plan = self._plan()
        previous = ""
        for window in self.windows:
            if window.id in missing:
                self.run.take_window()
                try:
                    previous = self._write_window(plan, window, missing[window.id], previous)
                except _ReplanError:  # it will be raised again
                    self.run.return_window()
                    raise
        if summary_tries is not None:
            self.run.check_open()
            self._summarise(plan, summary_tries)

    def _plan(self) -> context_prompt.PromptPlan:
        run, requests = self.run, self.requests
        planner = Planner(run.library, run.task.recipe, run.task.prompt, requests.info)
        plan = planner.plan(self.video, self.windows)
        if plan.scope == "block" and run.takes_large:
            sizes = prompt_sizes(requests.host, requests.info)
            plan = replace(planner, sizes=sizes).plan(self.video, self.windows)
        run.num_ctx = max(run.num_ctx, plan.num_ctx)
        plan = replace(plan, num_ctx=max(run.num_ctx, requests.least_num_ctx))
        return plan if plan.scope == "full" else plan.with_overview(self._overview(plan))

    def _overview(self, plan: context_prompt.PromptPlan) -> str:
        """Join the summaries of a long video's sections; the library stores each of them, and the whole."""
        contexts, video, recipe = self.run.library.contexts, self.video, self.run.task.recipe
        key = overview_key(recipe, video.id, self.text_hash)
        stored = contexts.overview(key)
        if stored is not None:
            return stored
        sources = plan.section_sources()
        contexts.keep_overview_sections(video.id, sources)
        texts = contexts.overview_sections(video.id)
        keys = [overview_key(recipe, video.id, "section", source) for source in sources]
        for section_key, source, messages in zip(keys, sources, plan.overview_requests(), strict=True):
            if section_key in texts:
                continue
            self.run.check_open()
            answer = self._ask_section(messages, plan.num_ctx)
            if answer is None:
                continue
            reply, section_text = answer
            section = OverviewSection(section_key, video.id, source, section_text)
            if not contexts.put_overview_section(section, self.transcript):
                raise _ReplanError
            texts[section_key] = section_text
            done = sum(each in texts for each in keys)
            cost = (reply.prompt_tokens, reply.tokens, reply.ms)
            self.run.events.put(OverviewWritten(video.id, video.title, done, len(keys), section_text, *cost))
        text = "\n".join(filter(None, (texts.get(each) for each in keys)))
        if all(each in texts for each in keys):
            contexts.put_overview(key, video.id, text)
        return text

    def _ask_section(self, messages: context_prompt.Messages, num_ctx: int) -> tuple[Reply, str] | None:
        """Request a section's summary, with another seed if the answer is unusable. Return it with its text."""
        answer: tuple[Reply, str] | None = None
        for seed in SEEDS:
            reply = self.requests.ask(self.video, messages, num_ctx, seed)
            if isinstance(reply, AppError):
                return None
            answer = reply, self.check.section(reply, last=seed == SEEDS[-1])
            if answer[1]:
                break
        return answer

    def _write_window(self, plan: context_prompt.PromptPlan, window: Window, tries: int, previous: str) -> str:
        """Write one window's context; if the first answer is unusable, ask again with another seed.

        An answer that repeats another window's context, or names things missing from the video, is requested again with
        a note of the fault. If it is still faulty, it is stored without a text, so that the search ignores it. Returns
        the context, or `previous` if there is none.
        """
        fault = ""
        answers: list[Context] = []
        for number in range(tries, TRIES):
            messages = plan.messages(window.ordinal, reminder=f"{fault} {REMINDER}".strip() if number else "")
            reply = self._ask(messages, plan.num_ctx, number)
            if reply is None:
                return previous
            self.requests.rate.learn_length(reply.prompt_tokens, len(messages.system) + len(messages.user))
            is_last = number + 1 == TRIES
            text, fault, doubts = self.check.context(window, reply, previous, last=is_last)
            is_settled = is_last or bool(text)
            context = self._context(window, plan.scope, number, text, reply, doubts)
            answers.append(context)
            if self.run.answered is not None:
                self.run.answered(context)
            if not self.run.library.contexts.put(context, self.transcript):
                raise _ReplanError
            self.run.words.put(window.id, text)
            if is_settled:
                self.run.events.put(self._written_event(window, answers))
                self.run.count_answer(usable=bool(text))
                return text or previous
        return previous

    def _context(self, window: Window, scope: str, number: int, text: str, reply: Reply, doubts: Doubts) -> Context:
        recipe = self.run.task.recipe
        return Context(
            key=context_key(recipe, window.id, self.text_hash),
            window_id=window.id,
            video_id=window.video_id,
            model=self.run.task.model,
            digest=recipe.digest,
            prompt=recipe.prompt,
            scope=scope,
            seed=SEEDS[number],
            text=text,
            raw=reply.text,
            doubts=doubts,
            prompt_tokens=reply.prompt_tokens,
            tokens=reply.tokens,
            prompt_ms=reply.prompt_ms,
            ms=reply.ms,
            tries=number + 1,
            stale=False,
            written_at=int(time.time()),
        )

    def _written_event(self, window: Window, answers: Sequence[Context]) -> ContextWritten:
        """Return the event of a window's final answer, with the cost of all its answers in this run."""
        context = answers[-1]
        video, text = self.video, context.text
        costs = (sum(each) for each in zip(*((a.prompt_tokens, a.tokens, a.ms) for a in answers), strict=True))
        suspect = bool(context.doubts and text)
        return ContextWritten(
            video.id, video.title, window.id, window.ordinal, text, suspect, context.is_left_out, *costs
        )

    def _summarise(self, plan: context_prompt.PromptPlan, tries: int) -> None:
        """Request the video's summary after the prompt of its windows; once more if the answer is unusable.

        The second request names the fault. Each attempt is stored, so that a killed run does not ask again.
        """
        recipe, video = summary_recipe(self.run.task.recipe), self.video
        fault = ""
        for number in range(tries, TRIES):
            messages = plan.summary_request(reminder=f"{fault} {SUMMARY_REMINDER}".strip() if number else "")
            reply = self._ask(messages, plan.num_ctx, number)
            if reply is None:
                return
            is_last = number + 1 == TRIES
            text, fault = self.check.summary(reply, last=is_last)
            summary = VideoSummary(
                video_id=video.id,
                text=text,
                model=self.run.task.model,
                digest=recipe.digest,
                prompt=recipe.prompt,
                tries=number + 1,
                settled=bool(text) or is_last,
                prompt_tokens=reply.prompt_tokens,
                tokens=reply.tokens,
                ms=reply.ms,
                written_at=int(time.time()),
            )
            if not self.run.library.summaries.put(summary, self.transcript):
                raise _ReplanError
            if summary.settled:
                self.run.summary_words.put(video.id, text)
                event = SummaryWritten(video.id, video.title, text, reply.prompt_tokens, reply.tokens, reply.ms)
                self.run.events.put(event)
                return

    def _ask(self, messages: context_prompt.Messages, num_ctx: int, number: int) -> Reply | None:
        """Request an answer that must not copy its prompt; report a failure."""
        reply = self.requests.ask(self.video, messages, num_ctx, SEEDS[number], self.check.copy_watch())
        if isinstance(reply, AppError):
            self.run.events.put(VideoFailed(self.video.id, self.video.title, reply.code, reply.details))
            return None
        return reply


def summary_recipe(recipe: Recipe) -> Recipe:
    """Return the recipe of the summaries that are made along with contexts by `recipe`."""
    return replace(recipe, prompt=f"{context_prompt.SUMMARY_VERSION}-{recipe.prompt}")
