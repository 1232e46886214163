"""Documents -> passages of the index; only what has changed is read again."""
