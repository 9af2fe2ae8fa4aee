"""The command line: its frame in `main`, and one module for each verb."""
