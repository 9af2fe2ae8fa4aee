from . import keymap as keymap
from .commands import (
    COMMANDS as COMMANDS,
    Command as Command,
    bindings as bindings,
    widget_bindings as widget_bindings,
)
from .keymap import declared_by as declared_by, key as key, key_in as key_in
