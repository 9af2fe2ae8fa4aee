"""Settings: file, environment and command line, each setting's origin, and a template file."""
