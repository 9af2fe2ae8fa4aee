"""Points of windows, embedded or on a server, and the process that owns them."""
