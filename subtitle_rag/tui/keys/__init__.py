"""Keys: the registry of commands, and the keys that the user gave them."""
