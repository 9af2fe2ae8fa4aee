"""The manual: its topics, as text for a terminal and as a page for man. What the program knows is told from there."""
