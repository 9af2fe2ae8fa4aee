"""Folders of tiny models."""

from tests.support.tiny_models import (
    dense_folder,
    encoder_folder,
    other_encoder_folder,
    reranker_folder,
    sentence_folders,
)

__all__ = ["dense_folder", "encoder_folder", "other_encoder_folder", "reranker_folder", "sentence_folders"]
