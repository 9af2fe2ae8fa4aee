"""How well scenes are found and questions answered: a tool beside the app, which imports nothing of it."""
