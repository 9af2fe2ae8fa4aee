"""Listening as a stage: which videos without captions are asked for, and the run that hears them."""
