"""The settings that a person judges."""
