"""Gemini, through google-genai."""
