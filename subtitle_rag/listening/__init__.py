"""Speech to captions on this machine: what is said in a film or a sound file, with times, where nobody has written it.

A `Transcriber` listens to a file in a process of its own, at low priority: hostile media and crashes of decoders stay
there, and its memory comes back at the end. It gives `HeardStretch`es from the front, each between two cuts at silence,
60 to 90 s long. Whoever keeps them goes on after a kill: `begin_ms` is the `end_ms` of the last one that was kept.
"""
