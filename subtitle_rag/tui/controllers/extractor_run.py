"""The thread that updates yt-dlp."""

from contextlib import closing
from dataclasses import replace
from typing import ClassVar

from subtitle_rag.installation import EXTRACTOR, extractor_age
from subtitle_rag.tui.controllers import stage_run
from subtitle_rag.tui.state import ExtractorUpdate, stage_progress


class ExtractorUpdateRun(stage_run.StageRun[ExtractorUpdate]):
    """Installs the newest yt-dlp in this program's own environment, and changes no other package."""

    stage: ClassVar[stage_progress.StageName] = "update"
    _progress = ExtractorUpdate("working")

    def _work(self) -> None:
        from subtitle_rag.captions import forget_extractor
        from subtitle_rag.installation import PackageInstaller

        before = extractor_age()
        self._progress = replace(self._progress, version=before.version, days=before.days)
        self._report(now=True)
        installer = PackageInstaller(self._runtime.settings.paths.cache, self._stop_work)
        with closing(installer.upgrade(EXTRACTOR)) as events:
            for _event in events:
                self._report()
        forget_extractor()
        after = extractor_age()
        self._progress = replace(self._progress, processed=int(after.version != before.version), version=after.version)
