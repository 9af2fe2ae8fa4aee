"""Korean as typed, spoken and spelled: morphemes, letters, sounds, numbers and dates."""
