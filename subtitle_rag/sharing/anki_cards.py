"""Scenes as an Anki deck: a package with its own note type, the notes, and the clips as media.

A package needs no mapping of columns in Anki's import, and importing a note again updates it.
"""

import hashlib
import html
import re
from collections.abc import Sequence
from pathlib import Path

from subtitle_rag.base.domain.values import clock
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.base.installation.extras import ANKI
from subtitle_rag.base.installation.package_installer import missing_extra
from subtitle_rag.sharing.export_formats import ExportFormat
from subtitle_rag.sharing.exported_scene import ExportedScene
from subtitle_rag.sharing.markdown import plain_text

_NOTE_TYPE = 1_726_480_731
"""Number by which Anki recognizes the note type, whatever the language of its fields."""
_FIELDS = (N_("Sentence"), N_("Scene"), N_("Context"), N_("Note"), N_("Link"), N_("Clip"))
_FRONT = "<div class=sentence>{{%(Sentence)s}}</div>{{%(Clip)s}}"
_BACK = (
    "<div class=sentence>{{%(Sentence)s}}</div><hr id=answer>{{%(Clip)s}}<p>{{%(Scene)s}}</p>"
    "<p class=more>{{%(Context)s}}</p><p class=more>{{%(Note)s}}</p><p>{{%(Link)s}}</p>"
)
_STYLE = (
    ".card { font: 1.3rem/1.6 sans-serif; text-align: center; } .sentence { font-size: 1.5em; } .more { opacity: .6; }"
)


def write_package(scenes: Sequence[ExportedScene], title: str, path: Path) -> None:
    """Write an `.apkg` file with a note for each scene.

    Raises:
        AppError: `missing_extra`.
        OSError: the file cannot be written.
    """
    try:
        import genanki
    except ImportError as error:
        raise missing_extra(ANKI) from error

    fields = [_(name) for name in _FIELDS]
    names = dict(zip(_FIELDS, fields, strict=True))
    card = {"name": _("Scene"), "qfmt": _FRONT % names, "afmt": _BACK % names}
    model = genanki.Model(
        _NOTE_TYPE,
        f"subtitle_rag: {_('Scene')}",
        fields=[{"name": name} for name in fields],
        templates=[card],
        css=_STYLE,
    )
    name = " ".join(title.replace("::", ":").split())  # two colons would make a subdeck
    deck = genanki.Deck(_number(name), name)
    for scene in scenes:
        guid = genanki.guid_for(scene.video.id, scene.start_ms, scene.end_ms)
        tags = [tag] if (tag := re.sub(r"[^\w:-]+", "_", scene.tag)) else []
        deck.add_note(genanki.Note(model, _values(scene), guid=guid, tags=tags))
    media = {scene.clip.name: scene.clip for scene in scenes if scene.clip}
    genanki.Package(deck, [str(clip) for clip in media.values()]).write_to_file(path)


def _values(scene: ExportedScene) -> list[str]:
    source = _field(f"{scene.video.title} {clock(scene.at_ms)}")
    link = f'<a href="{html.escape(scene.jump_url)}">{source}</a>' if scene.jump_url else source
    clip = f"[sound:{scene.clip.name}]" if scene.clip else ""
    return [_field(scene.sentence), _field(scene.text), _field(scene.context or ""), _field(scene.note), link, clip]


def _field(text: str) -> str:
    """Return outside text as HTML on one line; brackets would name a sound, braces a field."""
    line = html.escape(" ".join(text.replace("\x1f", " ").split()))
    return line.replace("[", "&#91;").replace("{", "&#123;")


def _number(name: str) -> int:
    """Return a deck's number, derived from its name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])


ANKI_PACKAGE = ExportFormat(plain_text, write_file=write_package)
