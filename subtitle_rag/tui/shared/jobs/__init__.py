"""Jobs: values and sentences."""
