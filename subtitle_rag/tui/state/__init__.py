"""Plain values of the app: what is shown, asked for and under way. Nothing here imports Textual."""
