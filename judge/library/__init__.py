"""What may be quoted: approved pages and a person's documents, read, indexed and ranked."""
