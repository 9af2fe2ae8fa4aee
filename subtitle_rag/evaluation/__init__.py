"""What each part of the search is worth, in numbers."""
