"""The points of windows, in an embedded index or on a server, and the process that holds it."""
