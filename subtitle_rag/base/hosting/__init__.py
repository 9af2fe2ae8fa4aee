"""Host processes: each owns, for one folder, a resource too heavy or too exclusive for every run.

    folder/
      host.json    the address, key and pid of this folder's host; readable by the owner only
      host.lock    held by the host for its life: if two start at once, the second one exits
      host.log     the host's stderr, for crashes of the interpreter; everything else is logged by `log_file`

A `HostKind` names the service; everything else is the same for all kinds. The first client (`host_client`) starts the
host as a detached process. The host (`server`) exits when no client has been connected for its linger time, so
consecutive runs share it. A client counts while its connection is open, so a killed one does not. If a host was killed,
the next call starts another; every call is idempotent and is repeated once. A host that accepts a connection but stays
silent for `host_client.HUNG_S` is ended by the waiting client.

A connection begins with `hello`: the caller's protocol, program and pid. Then it carries `(order, method, args,
options)` one way and `(True, value)` or `(False, exception)` back. Both ends prove by HMAC that they have the key
before they unpickle.

A caller of another version is refused with a dict, `(False, {…})`, which lists the programs that use the host, and does
not prolong its life. A host without clients leaves for such a caller. A host with clients finishes their calls and
leaves for a newer caller, so that an update works while programs of the previous version are open.
"""
