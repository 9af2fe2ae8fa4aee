"""The manual: its topics, as text for a terminal and as a page for man."""
