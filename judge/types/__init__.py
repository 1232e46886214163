"""The data types of the product, and validation of input from outside."""
