"""Language models: Gemini, servers that speak chat completions, and one that only quotes."""
