"""Lists and tables of rows with a cursor."""
