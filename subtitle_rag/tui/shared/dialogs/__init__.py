"""The base class of dialogs, and confirmations."""
