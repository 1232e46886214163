"""Source text -> facts: the symbol table and the occurrences of one file."""
