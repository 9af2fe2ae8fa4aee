"""Parts of screens. They know values and text, never the app."""
