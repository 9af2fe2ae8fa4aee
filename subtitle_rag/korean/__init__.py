"""Korean text: morphemes, letters, sounds, numbers and dates."""
