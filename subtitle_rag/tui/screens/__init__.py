"""The screens, one for each place in the app, and the parts of their behaviour."""
