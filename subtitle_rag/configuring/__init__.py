"""The config told to people and programs: what is in force and why, its schema, and a file to begin with."""
