"""The sample library: nine invented videos, in their own folder next to the user's library."""

import logging
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.base.config.settings import Paths, QdrantSettings, Settings
from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.index.indexing import Indexer
    from subtitle_rag.search.searcher import SearchResult

logger = logging.getLogger(__name__)

QUERY = "치킨 소스 찍어 먹는 장면"
"""Query for a scene in the sample."""
EXAMPLES = ("소스에 찍어 먹는 치킨", "비 오는 날 텐트 치기")
"""Example searches on the sample's start page."""


def sample_settings(settings: Settings) -> Settings:
    """Return the settings of the sample library. Models, cache and log stay the user's."""
    paths = Paths(
        settings.paths.config, settings.paths.cache / "demo" / "data", settings.paths.cache, settings.paths.log
    )
    models = replace(settings.models, folder=settings.models.folder or str(settings.paths.models))
    return replace(settings, paths=paths, models=models, qdrant=QdrantSettings(), is_sample=True)


def fill(runtime: Runtime) -> None:
    """Index the sample's captions, if not done yet.

    Raises:
        BusyError: If another process is indexing the sample, and it is not searchable yet.
    """
    with as_file(files("subtitle_rag") / "sample") as folder:
        try:
            for _event in _indexer(runtime).index([Path(folder)]):
                pass
        except BusyError:
            if not runtime.library.counts().searchable:
                raise
            logger.info("another process indexes the sample", exc_info=True)


def search(runtime: Runtime) -> "SearchResult":
    """Return the first scenes for `QUERY`."""
    from subtitle_rag.search.query import parse_query

    runtime.preload()
    return runtime.searcher.search(parse_query(QUERY), limit=5)


def _indexer(runtime: Runtime) -> "Indexer":
    """Return the indexer; rebuilds an unusable index."""
    try:
        return runtime.indexer
    except BusyError:
        raise
    except AppError:
        logger.info("the sample's index is made anew", exc_info=True)
        for _event in runtime.rebuilder().rebuild():
            pass
        return runtime.indexer
