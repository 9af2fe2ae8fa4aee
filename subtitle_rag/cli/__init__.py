"""The command line: its frame in `main`, and a module for each verb that turns arguments into a use case."""
