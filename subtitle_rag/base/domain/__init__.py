"""The domain: its values, the events of use cases, and the errors by code."""
