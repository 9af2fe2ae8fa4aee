"""The library and the field that captions come in by."""
