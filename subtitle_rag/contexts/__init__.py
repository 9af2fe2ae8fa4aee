"""What a local model writes about each window, so that its scene is found by what only the rest of the video says."""
