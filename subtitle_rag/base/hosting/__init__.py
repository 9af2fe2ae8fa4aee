"""Host processes: each owns, for one folder, a resource too heavy or too exclusive for every run.

    folder/
      host.json    the address, key and pid of this folder's host; readable by the owner only
      host.lock    held by the host for its life: if two start at once, the second one exits
      host.log     the host's stderr, for crashes of the interpreter; everything else is logged by `log_file`

A `HostKind` names the service; everything else is common to all kinds. The first client (`host_client`) starts the host
as a detached process. The host (`server`) exits when no client has been connected for its linger time, so consecutive
runs share it. A client counts while its connection is open, so a killed one does not. If a host was killed, the next
call starts another; every call is idempotent and is repeated once. If a host accepts a connection but stays silent for
`host_client.HUNG_S`, the waiting client kills it.

A connection begins with `hello`: the caller's protocol, program and pid. Then it carries `(order, method, args,
options)` one way and `(True, value)` or `(False, exception)` back. Both ends prove by HMAC that they have the key
before they unpickle.

The host refuses a caller of another version with a dict, `(False, {…})`, that lists the programs using it. Such a
caller does not prolong the host's life. If the host has no clients, it exits. If it has clients and the caller is
newer, it finishes their calls and exits, so that an update works while programs of the previous version are open.
"""
