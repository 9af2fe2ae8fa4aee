"""The work in the background: values, sentences and bars."""
