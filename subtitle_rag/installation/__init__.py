"""What of the program is installed, how this copy of it came here, and how the rest is added to it."""
