from .entry import (
    SOCKET_PREFIX as SOCKET_PREFIX,
    HostKind as HostKind,
    seconds_from as seconds_from,
    write_atomically as write_atomically,
)
from .host_client import Client as Client
