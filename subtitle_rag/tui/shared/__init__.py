"""Values, text and widgets shared by several screens, independent of the app."""
