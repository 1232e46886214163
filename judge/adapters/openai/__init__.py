"""Every server that speaks OpenAI's chat completions: Ollama, llama.cpp, vLLM, hosted ones."""
