"""From windows to points: indexing, encoding, and the index, in a folder or on a Qdrant server."""
