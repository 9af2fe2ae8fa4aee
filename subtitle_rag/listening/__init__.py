"""Transcription on this machine: timed captions from the speech in a film or sound file.

A `Transcriber` runs in its own process at low priority: hostile media and decoder crashes stay there, and its memory is
freed at the end. It yields `HeardStretch`es of 60 to 90 s in order, each between two cuts at silence. After a kill,
continue with the last stored stretch: its `end_ms` is the next `begin_ms`.
"""
