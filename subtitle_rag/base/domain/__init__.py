"""The words of the domain: its values, the events that use cases report, and the failures by their codes."""
