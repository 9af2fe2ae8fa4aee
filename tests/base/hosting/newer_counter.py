"""The counters of other versions of the program, and ones that do not begin."""

from dataclasses import replace

from tests.base.hosting import counter

KIND = replace(counter.KIND, path=f"{__name__}:KIND", protocol=2)
ENDED = replace(counter.KIND, path=f"{__name__}:ENDED", service="tests.base.hosting.counter:end_by_number")
FULL = replace(counter.KIND, path=f"{__name__}:FULL", service="tests.base.hosting.counter:full_disk")
