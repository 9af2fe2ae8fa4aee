"""Host processes: each owns, for one folder, something too heavy or too exclusive for every run to hold.

    folder/
      host.json    the address, key and pid of this folder's host; readable by the owner alone
      host.lock    held by the host for its life: if two start at once, the second one exits
      opening.json the pid of the host while it opens its service, and since when
      host.log     the host's stderr, for crashes of the interpreter; everything else is logged by `log_file`

There is one kind of entry, protocol and client; a `HostKind` adds its service and lifetime. The first client
(`host_client`) starts the host as a detached process. The host (`server`) exits when no client has been connected for
its linger time, so runs in a row share it. A client counts while its connection is open, so a killed one does not. If a
host was killed, the next call starts another; every call is idempotent and is repeated once.

A host that takes longer than `HostKind.open_s` to open ends itself. If it cannot, having been stopped, the client that
started it ends it, or a later one of the same user. Until then clients give up after `host_client.START_S` and name it.
A host that is open and stands still, stopped or waiting for a disk that hangs, is ended by the client that waits.

A connection carries `(method, args, options)` one way and `(True, value)` or `(False, exception)` back. Its first
message is `hello`, with the caller's protocol, program and pid. Both ends prove by HMAC that they have the key before
they unpickle.

A caller of another version is refused with a dict, `(False, {…})`, which tells the programs that hold the host, and
does not prolong its life. A host that nobody has open leaves for such a caller; one with clients finishes their calls
and leaves for a newer one, so that an update works while programs of the version before are still open. A host that
refuses with `(False, None)` knows none of this: it is ended by SIGTERM once it is idle.
"""
