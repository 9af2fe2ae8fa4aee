from .entry import HostKind as HostKind, write_atomically as write_atomically
from .host_client import Client as Client
