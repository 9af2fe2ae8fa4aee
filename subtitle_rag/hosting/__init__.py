"""Processes that hold what is too heavy or too jealous to be held by every run: one for each folder.

    folder/
      host.json    how to reach the host of this very folder: address, key, pid; readable by the owner alone
      host.lock    held by the host for its life: of two that start at once, the second one leaves
      host.log     the host's stderr: what a crash of the interpreter leaves; all else goes to the log (`log_file`)

The first client (`client`) starts it, detached, so that it outlives that client. It leaves (`server`) when no client
has been connected for its linger time, so that runs in a row share one. A client is a connection: one that was killed
counts no longer. A host that was killed is started again by whoever calls next; all calls are idempotent, so the call
is made once more.

A connection carries `(method, args, options)` one way and `(True, value)` or `(False, exception)` back. It begins with
`hello`, which compares protocols. Both ends prove by HMAC that they know the key, before anything is unpickled.
"""
