"""The page of an empty library: the first steps, and the checks of their requirements."""

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from subtitle_rag.i18n import _
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.text import MUTED, model_lines, paragraphs
from subtitle_rag.tui.widgets.check_list import CheckList, CheckRow

if TYPE_CHECKING:
    from collections.abc import Callable

    from subtitle_rag.config import Settings
    from subtitle_rag.doctor import Check
    from subtitle_rag.tui.state import ModelDownload

MODELS = ("encoder", "reranker")


def intro() -> Content:
    return paragraphs(
        (
            _("Paste the address of a channel, a playlist or a video on YouTube."),
            _("Its captions are fetched and indexed on this computer; nothing is sent elsewhere."),
            _("A folder of caption files works too (.vtt, .srt, .sbv, .json3)."),
        )
    )


def check_names(settings: "Settings") -> list[str]:
    """Return the checks of a beginner's needs: none sends anything but to the user's own Ollama."""
    server = ["qdrant"] if settings.qdrant.url else []
    return ["terminal", "disk", "kiwi", *server, "player", "yt-dlp", "ollama", *MODELS]


class Onboarding(Vertical):
    def __init__(self, settings: "Settings", probe: "Callable[[str], Check]", *, show_times: bool) -> None:
        """`probe` runs one check, in a thread. Without `show_times`, for pictures, none runs."""
        self._sample = Static(id="sample", markup=False)
        self._title = Static(id="readiness", markup=False)
        self.checks = CheckList(check_names(settings), probe)
        self._models = CheckRow("models", _("Models"))
        super().__init__(self._sample, self._title, self.checks, self._models, id="onboarding")
        self._show_times = show_times
        self._started = False

    def on_mount(self) -> None:
        sentence = _("Just looking? {key} opens a sample: nine invented videos, apart from your library.")
        sample = sentence.format(key=key("library.sample"))
        self._sample.update(Content(sample))
        more = _("{key} shows all checks").format(key=key("app.checks"))
        self._title.update(Content.styled(_("Ready?"), "bold") + Content.styled(f"   {more}", MUTED))
        self.watch(self.app, "offer", self._show_models)

    def begin(self) -> None:
        """Run the checks, once; never for pictures, which must not differ from machine to machine."""
        if not self._started and self._show_times:
            self._started = True
            self.checks.start()

    def _show_models(self, models: "ModelDownload | None") -> None:
        """Replace the checks of models by the offer to download them."""
        model_line = model_lines.line(models)
        self._models.display = bool(model_line)
        self.checks.leave_out(MODELS if model_line else ())
        if models and models.state in ("offered", "paused", "failed"):
            self._models.say("!", _("Optional: search for words works without them."), model_line)
        else:
            self._models.say("…", model_line)
        if models is None and self._started:  # the download has ended
            self.checks.start(MODELS)
