"""What commands and app begin: the stages, requests, removals, checks, settings and the sample library."""
