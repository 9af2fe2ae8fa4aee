"""Text fields, the footer, and panels with borders."""
