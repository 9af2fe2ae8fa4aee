"""From a query to scenes."""
