"""What everything stands on: words of the domain, settings, files, the log, output and the host processes."""
