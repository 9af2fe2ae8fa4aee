"""A `config.toml` to begin with: every setting with its default, commented out, in the language in force."""

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from subtitle_rag.config import SECTIONS, ThemeSettings, about, about_field
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import LANGUAGES, _

EXAMPLE_PLAYER = ("celluloid", "--mpv-start={seconds}", "{url}")
EXAMPLE_KEY = ("app.library", "F10,Ctrl+B")
EXAMPLE_THEME = {"primary": "#3a86ff", "background": "#081020"}


def template(language: str) -> str:
    """Return the file's text, with each setting as a comment."""
    return "\n".join(_lines(language)) + "\n"


def _lines(language: str) -> Iterator[str]:
    first = _("The settings of subtitle-rag. A line counts once the # and the space in front of it are taken away.")
    second = _("subtitle-rag config validate tells what is wrong, subtitle-rag config show what is in force.")
    yield from (f"# {first}", f"# {second}")
    yield ""
    yield f"# {about('language')} ({', '.join(LANGUAGES)})"
    yield f"# language = {to_toml(language)}"
    for name, kind in SECTIONS.items():
        yield ""
        yield f"# {about(name)}"
        yield f"[{name}]"
        for each in fields(kind):
            yield ""
            yield f"# {about_field(each)}{_allowed(each.metadata)}"
            yield f"# {each.name} = {to_toml(getattr(kind(), each.name))}"
    yield from ("", f"# {about('players')}", "[players]", "")
    yield from ("# [players.celluloid]", f"# command = {to_toml(EXAMPLE_PLAYER)}")
    yield from ("", f"# {about('keys')}", "[keys]", "")
    yield f"# {json.dumps(EXAMPLE_KEY[0])} = {json.dumps(EXAMPLE_KEY[1])}"
    yield from ("", f"# {about('themes')}", "[themes]", "")
    yield "# [themes.sea]"
    for each in fields(ThemeSettings):
        value = EXAMPLE_THEME.get(each.name)
        if value:
            yield f"# {each.name} = {to_toml(value)}"


def _allowed(rules: Any) -> str:
    values = rules.get("one_of") or rules.get("among") or ()
    return f" ({', '.join(values)})" if values else ""


def to_toml(value: Any) -> str:
    """Return a value as TOML."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def write_new(path: Path, text: str) -> None:
    """Write the file, readable by its owner alone, either wholly or not at all; never over another.

    Raises:
        UsageError: `config_exists`, `unwritable`.
    """
    temporary = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.path.lexists(path):
            raise FileExistsError
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mode 0600
        temporary = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(temporary, path)
    except FileExistsError as error:
        raise UsageError("config_exists", path=str(path)) from error
    except OSError as error:
        raise UsageError("unwritable", path=str(path), reason=error.strerror or str(error)) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _put_in_place(temporary: Path, path: Path) -> None:
    """Give the temporary file its name, unless another has it; a link, unlike a rename, refuses then."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError from None
        temporary.replace(path)
