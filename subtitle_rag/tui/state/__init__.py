"""Plain values of the app: progress, requests, choices. Nothing here imports Textual."""
