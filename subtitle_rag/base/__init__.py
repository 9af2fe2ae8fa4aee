"""The foundation of all other packages: domain values, settings, files, log, output and host processes."""
