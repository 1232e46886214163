"""Data of the package: words of subjects, safety rules, thesaurus and word vectors."""
