from . import (
    analysis_client as analysis_client,
    index_client as index_client,
    index_document as index_document,
    payload as payload,
    sections as sections,
    server_terms as server_terms,
    vector_backup as vector_backup,
)
from .analysis_ahead import AnalysisAhead as AnalysisAhead
from .index_edge import EdgeIndex as EdgeIndex
from .interface import Index as Index, StagedIndex as StagedIndex, StagingIndex as StagingIndex
