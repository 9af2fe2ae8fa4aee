"""Background work: values, sentences and bars."""
