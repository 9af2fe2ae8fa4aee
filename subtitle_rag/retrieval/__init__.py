"""Captions → index, and query → scenes: four rooms that share a few values."""
