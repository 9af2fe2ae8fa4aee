"""Use cases that commands and app start: stages, requests, removals, checks, settings and the sample library."""
