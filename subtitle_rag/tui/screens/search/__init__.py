"""The search screen: the query and its scenes."""
