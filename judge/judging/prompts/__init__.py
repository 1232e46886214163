"""The prompt that the model is given."""
