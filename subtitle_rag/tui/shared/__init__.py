"""What several screens use: values, text and widgets, which know nothing of the app."""
