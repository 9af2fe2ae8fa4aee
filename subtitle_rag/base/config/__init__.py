"""Settings from file, environment and command line; the origin of each; and a template file."""
