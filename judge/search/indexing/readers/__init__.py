"""Documents of all kinds -> blocks of text, with the lines they stand on and their headings."""
