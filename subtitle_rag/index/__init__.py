"""Windows to points: indexing, encoding, and the index itself, in a folder or on a Qdrant server."""
