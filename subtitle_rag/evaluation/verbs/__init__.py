"""Verbs of `eval`. `cli` finds the group by name, without importing anything else here."""
