"""From captions to an index, and from a query to scenes: four rooms over a few values."""
