"""The registry of commands, and the user's own keys for them."""
