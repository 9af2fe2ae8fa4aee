"""The config for people and programs: the origin of each setting, the schema, and a file to begin with."""
