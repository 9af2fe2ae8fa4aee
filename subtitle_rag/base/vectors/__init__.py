"""Vectors and points as exchanged between packages: names, pieces and batches."""
