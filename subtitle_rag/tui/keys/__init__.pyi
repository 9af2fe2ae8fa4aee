from . import keymap as keymap
from .commands import (
    COMMANDS as COMMANDS,
    IMPORTANCE as IMPORTANCE,
    Command as Command,
    bindings as bindings,
    closed_by as closed_by,
    widget_bindings as widget_bindings,
)
from .keymap import declared_by as declared_by, key as key
