"""Models: the manifest, the files on this machine (`model_store`), and their `download`."""
