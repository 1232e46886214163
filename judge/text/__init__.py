"""Text processing: tokens, stems, sentences, patterns, decoding; pure, and importable by all."""
