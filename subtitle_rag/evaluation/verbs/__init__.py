"""The verbs of `eval`. `cli` finds the group by its name, and imports nothing of the evaluation."""
