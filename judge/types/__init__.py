"""The nouns of the product, and the checks of what comes in from outside."""
