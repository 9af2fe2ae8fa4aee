"""The counter of a newer version of the program."""

from dataclasses import replace

from tests.hosting import counter

KIND = replace(counter.KIND, module=__name__, protocol=2)
