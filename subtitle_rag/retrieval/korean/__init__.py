"""Korean as it is typed, said and spelled: morphemes, letters, sounds, numbers and dates."""
