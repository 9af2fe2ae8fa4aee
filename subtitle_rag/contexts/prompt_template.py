"""Prompt files: text with named placeholders in braces, checked when read and filled in one pass.

Only the file's own text is searched for placeholders. Values are inserted unchanged, so braces in a caption or a title
are never expanded.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from subtitle_rag.base.config.config_file import Mistake, nearest, read_regular
from subtitle_rag.base.domain.errors import UsageError, localize_reason
from subtitle_rag.base.domain.values import nfc
from subtitle_rag.base.i18n import _

MAX_BYTES = 100_000
"""Maximum bytes of a prompt file."""

_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Places:
    """The placeholders of one kind of prompt, by name."""

    required: tuple[str, ...]
    optional: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.optional, *self.required)


def fill_places(text: str, values: Mapping[str, str]) -> str:
    """Return the text with the values filled in, without lines that have only empty placeholders."""
    lines = [(line, _PLACE.sub(lambda match: values[match[1]], line)) for line in text.split("\n")]
    return "\n".join(filled for line, filled in lines if filled.strip() or not _PLACE.search(line))


@dataclass(slots=True)
class TemplateText:
    """The text of a prompt file with its mistakes."""

    path: Path
    key: str = ""
    """The setting that names the file."""
    text: str = ""
    mistakes: list[Mistake] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path, places: Places, key: str = "") -> "TemplateText":
        """Read a file and check its text and placeholders; an unreadable file is a mistake too."""
        template = cls(path, key)
        try:
            raw = read_regular(path, MAX_BYTES)
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            template.note(_("it is not UTF-8"), 1 + error.object.count(b"\n", 0, error.start))
        except OSError as error:
            template.note(localize_reason(error.strerror or str(error)))
        else:
            template.text = nfc(text.replace("\r\n", "\n").replace("\r", "\n"))
            template._check(places)
        return template

    def note(self, message: str, line: int | None = None, near: str = "") -> None:
        self.mistakes.append(Mistake(str(self.path), self.key, message, near, line))

    def raise_first(self) -> None:
        """Raise UsageError `bad_prompt` if the file has a mistake."""
        if self.mistakes:
            raise bad_prompt(self.mistakes[0])

    def _check(self, places: Places) -> None:
        """Record control characters, and unknown, repeated and missing placeholders."""
        line_by_name: dict[str, int] = {}
        for number, line in enumerate(self.text.split("\n"), start=1):
            if any(unicodedata.category(char) in ("Cc", "Cs") and char != "\t" for char in line):
                self.note(_("the line has a control character"), number)
            for match in _PLACE.finditer(line):
                name = match[1]
                if name not in places.names:
                    message = _("there is no place {place}, only {known}")
                    message = message.format(place=match[0], known=braced(places.names))
                    self.note(message, number, nearest(match[0], [f"{{{each}}}" for each in places.names]))
                elif name in line_by_name:
                    self.note(_("{place} stands there twice").format(place=match[0]), number)
                line_by_name.setdefault(name, number)
        for name in places.required:
            if name not in line_by_name:
                self.note(_("{place} is missing").format(place=braced([name])))

    def line_of(self, name: str) -> int:
        """Return the line of a placeholder in the text."""
        return 1 + self.text[: self.text.index(braced([name]))].count("\n")


def braced(names: Sequence[str]) -> str:
    """Return the names of placeholders as in a file."""
    return " ".join(f"{{{name}}}" for name in names)


def bad_prompt(mistake: Mistake) -> UsageError:
    """Return the mistake in a prompt file as an error."""
    return UsageError("bad_prompt", path=mistake.place, place=mistake.where, reason=mistake.reason)
