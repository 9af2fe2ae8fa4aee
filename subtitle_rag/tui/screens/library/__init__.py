"""The library screen: its tables, and the field to add captions."""
