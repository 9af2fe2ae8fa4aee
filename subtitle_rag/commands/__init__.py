"""The verbs of the command line. Each turns arguments into a use case and its result into output, and nothing else."""
