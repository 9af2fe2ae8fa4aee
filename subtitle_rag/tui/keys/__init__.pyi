from . import keymap as keymap
from .commands import COMMANDS as COMMANDS, IMPORTANCE as IMPORTANCE, bindings as bindings
from .keymap import declared_by as declared_by, key as key
