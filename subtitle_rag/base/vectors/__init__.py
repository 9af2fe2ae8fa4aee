"""Vectors and points as all rooms exchange them: their names, pieces and batches."""
