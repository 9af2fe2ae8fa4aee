"""The screen with the marked scenes."""
