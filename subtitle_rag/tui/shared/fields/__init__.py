"""Text fields, the footer and the panels' borders."""
