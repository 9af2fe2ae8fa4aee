"""Offers and runs the download of models and packages for search by meaning."""

from dataclasses import replace
from typing import TYPE_CHECKING

from subtitle_rag.base.i18n import _
from subtitle_rag.library.app_state import MODEL_OFFER
from subtitle_rag.models.manifest import ENCODER
from subtitle_rag.tui.controllers.app_port import AppPort
from subtitle_rag.tui.controllers.background import BackgroundController
from subtitle_rag.tui.shared.messages import LibraryChanged, NotRemembered
from subtitle_rag.tui.shared.progress.model_lines import IN_PROCESS, THROUGH_OLLAMA
from subtitle_rag.tui.shared.progress.offers import ModelDownload, find_through_ollama
from subtitle_rag.tui.shared.progress.stage import Stage

if TYPE_CHECKING:
    from subtitle_rag.models.neural.ollama_encoder import EncoderOffer
    from subtitle_rag.runtime import Runtime

ELSEWHERE_S = 15.0
"""Interval of checks on another process's download."""


class ModelDownloadController:
    """Decides when to offer the download, and starts and stops it."""

    def __init__(self, app: AppPort, runtime: "Runtime", background: BackgroundController) -> None:
        self._app = app
        self._runtime = runtime
        self._background = background
        self._look_due = False
        self._through_ollama: EncoderOffer | None = None
        background.on_end["offer"] = self._ended

    @property
    def _offer(self) -> ModelDownload | None:
        return ModelDownload.among(self._app.stages)

    def _show(self, offer: ModelDownload | None) -> None:
        if offer is None:
            self._background.remove("offer")
        else:
            self._background.show(offer)

    @property
    def is_running(self) -> bool:
        return "offer" in self._background.runs and "offer" not in self._background.paused

    @property
    def can_start(self) -> bool:
        return bool(self._offer and self._offer.fetchable)

    @property
    def can_dismiss(self) -> bool:
        return self._offer is not None and self._offer.state in ("offered", "paused", "failed")

    @property
    def needs_consent(self) -> bool:
        """Whether the user must first choose a way or agree to installing packages."""
        offer = self._offer
        if self.is_running or offer is None or not offer.fetchable or offer.state == "paused":
            return False
        return bool(offer.packages or offer.steps)

    def toggle(self) -> None:
        """Start the download, or pause it."""
        if self.is_running:
            self._background.pause("offer")
        else:
            self.start()

    def start(self, way_name: str = IN_PROCESS) -> None:
        """Download what one of `install_ways` needs. If it uses another encoder, write that into the config."""
        offer = self._offer
        if offer is None or not offer.fetchable:
            return
        encoder = next((each.step.encoder for each in offer.steps if each.step.name == way_name), "")
        if way_name == THROUGH_OLLAMA:
            encoder = offer.through_ollama.name if offer.through_ollama else ""
        if encoder and encoder != self._runtime.models.configured(ENCODER):
            self._runtime.use_encoder(encoder)
        self._background.resume("offer")

    def dismiss(self) -> None:
        """Stop offering the models; the command still downloads them."""
        self._background.show_state("offer", "dismissed")
        self._app.run_in_thread(
            lambda: self._runtime.library.database.put_setting(MODEL_OFFER, "dismissed"),
            NotRemembered,
            group="offer",
        )

    def download_read(self, download: ModelDownload | None) -> None:
        """Publish the result of `find_download`."""
        before = self._offer
        shows_more = before is not None and before.state in ("paused", "failed")
        is_open = (before is not None and before.is_by_ollama) or (download is not None and download.fetchable)
        if "offer" in self._background.runs or (shows_more and is_open):
            return
        self._show(self._with_ollama(download))
        if download and download.packages:
            self._app.run_in_thread(
                lambda: find_through_ollama(self._runtime), lambda _error: None, take=self._ollama_read, group="offer"
            )
        if download and download.state == "elsewhere":
            if not self._look_due:
                self._look_due = True
                self._app.set_timer(ELSEWHERE_S, self._look_again)
        elif before and not download:  # another process has downloaded them
            self._background.begin("vectors")

    def _ollama_read(self, through_ollama: "EncoderOffer | None") -> None:
        """Add Ollama's encoder to the offer."""
        self._through_ollama = through_ollama
        self._show(self._with_ollama(self._offer))

    def _with_ollama(self, download: ModelDownload | None) -> ModelDownload | None:
        if download is None or not download.packages or not download.fetchable:
            return download
        if download.recommended:
            return download
        return replace(download, through_ollama=self._through_ollama)

    def _look_again(self) -> None:
        self._look_due = False
        self._app.post_message(LibraryChanged())

    def _ended(self, progress: Stage) -> None:
        if progress.state == "done":
            text = _("The models are here. Scenes are found by what they mean, too, as vectors are made.")
            if lines := self._offer and self._offer.config_text:
                sentence = _("The next start uses them if the config says: {lines}")
                text += "\n" + sentence.format(lines=lines)
            self._app.notify(text, markup=False)
        if progress.state == "done" or (progress.error and progress.error.code == "busy"):
            self._background.remove("offer")
        self._app.post_message(LibraryChanged())
