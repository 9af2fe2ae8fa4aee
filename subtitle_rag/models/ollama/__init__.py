"""Client for Ollama: chat, structured output, streaming, pull, and typed failures.

Pitfalls: the server silently cuts the front of an over-long prompt, reloads the model when `num_ctx` changes, thinks by
default, and may forward requests to a cloud; the client sends an API key from the environment to any host. This package
refuses or reports all of that.
"""
