"""Ollama behind one door: chat, structured output, streaming, pull, and typed failures.

Surprises: the server silently cuts the front of an over-long prompt, reloads the model when `num_ctx` changes, thinks
by default, and may pass requests on to a cloud; the client sends an API key from the environment to any host. This
package refuses or reports all of that.
"""
