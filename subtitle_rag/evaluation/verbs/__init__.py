"""The verbs of `eval`. `cli` finds the group by name, without importing the rest."""
