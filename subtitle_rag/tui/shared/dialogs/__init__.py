"""The base of modal screens, and the one that asks before something is lost."""
