"""Settings: file, environment and command line, the origin of each, a schema, and a file to begin with."""
