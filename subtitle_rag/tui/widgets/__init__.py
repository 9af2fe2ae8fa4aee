"""Parts of screens. They know values and texts, but not the app."""
