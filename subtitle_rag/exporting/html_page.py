"""Scenes as one HTML page with a search field. The page asks nothing of any server and works as a local file."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape

from subtitle_rag.domain import clock
from subtitle_rag.exporting.exported_scene import ExportedScene, by_video
from subtitle_rag.i18n import _
from subtitle_rag.terminal_text import line_text

STYLE = """
:root { color-scheme: light dark; --faint: color-mix(in srgb, currentColor 60%, transparent); }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1rem; word-break: keep-all;
  overflow-wrap: anywhere; }
.bar { position: sticky; top: 0; background: Canvas; padding: .5rem 0; display: flex; gap: 1rem; align-items: center; }
input { font: inherit; flex: 1; min-width: 0; padding: .4rem .6rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 0; }
.about { color: var(--faint); margin: 0; }
article { border-left: .2rem solid var(--faint); padding-left: .8rem; margin: 1rem 0; }
article p { margin: 0; }
article p + p.more { margin-top: .5rem; }
mark { background: Mark; color: MarkText; }
a { color: LinkText; } .time { font-variant-numeric: tabular-nums; margin-right: .5rem; }
.label { color: var(--faint); }
[hidden] { display: none; }
@media print { .bar { display: none; } }
"""
SCRIPT = r"""
const field = document.getElementById("query"), count = document.getElementById("count");
const scenes = [...document.querySelectorAll("article")], groups = [...document.querySelectorAll("section")];
const within = node => [...node.querySelectorAll("[data-text]")].map(part => part.textContent);
const texts = scenes.map(scene =>
  [...within(scene), ...within(scene.closest("section").querySelector("header"))].join("\n"));
const parts = [...document.querySelectorAll("[data-text]")].map(part => [part, part.textContent]);
// a word is found where it begins one, as particles follow it; inside of words only if none begins with it
const pattern = word => {
  const letters = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const begins = new RegExp("(?<![\\p{L}\\p{N}])" + letters, "giu");
  return texts.some(text => text.search(begins) >= 0) ? begins : new RegExp(letters, "giu");
};
const mark = (part, text, found) => {
  const matches = found.flatMap(each => [...text.matchAll(each)]);
  const spans = matches.map(match => [match.index, match.index + match[0].length]);
  let end = 0;
  part.replaceChildren();
  for (const [from, to] of spans.sort((one, other) => one[0] - other[0] || other[1] - one[1])) {
    if (from < end) continue;
    const marked = document.createElement("mark");
    marked.textContent = text.slice(from, to);
    part.append(text.slice(end, from), marked);
    end = to;
  }
  part.append(text.slice(end));
};
const filter = () => {
  const found = field.value.normalize("NFC").split(/\s+/).filter(Boolean).map(pattern);
  let shown = 0;
  scenes.forEach((scene, at) => {
    scene.hidden = !found.every(each => texts[at].search(each) >= 0);
    shown += !scene.hidden;
  });
  for (const [part, text] of parts) mark(part, text, found);
  for (const group of groups) group.hidden = !group.querySelector("article:not([hidden])");
  count.textContent = `${shown} / ${scenes.length}`;
};
field.addEventListener("input", filter);
let reached = -1; // Enter goes on to the next marked word
field.addEventListener("input", () => { reached = -1; });
field.addEventListener("keydown", event => {
  const marks = document.querySelectorAll("article:not([hidden]) mark");
  if (event.key !== "Enter" || event.isComposing || !marks.length) return;
  reached = (reached + 1) % marks.length;
  marks[reached].scrollIntoView({block: "center"});
});
filter();
"""


def html_page(scenes: Sequence[ExportedScene], title: str) -> str:
    """Write scenes as a page, grouped by video."""
    return "".join(_page(scenes, title))


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _page(scenes: Sequence[ExportedScene], title: str) -> Iterator[str]:
    policy = f"default-src 'none'; style-src {_digest(STYLE)}; script-src {_digest(SCRIPT)}; base-uri 'none'"
    yield '<!doctype html>\n<html lang="ko">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(policy, quote=False)}">\n'
    yield '<meta name="referrer" content="no-referrer">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{_text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{_text(title)}</h1>\n"
    yield f'<div class="bar"><input id="query" type="search" autofocus aria-label="{_text(_("Search"))}" '
    yield f'placeholder="{_text(_("Search"))}"><span id="count" role="status"></span></div>\n<main>\n'
    for video, group in by_video(scenes):
        about = " · ".join(filter(None, (video.channel, str(video.published or ""))))
        heading = _linked(group[0].link(group[0].start_ms), f"<span data-text>{_text(video.title)}</span>")
        yield f'<section>\n<header><h2>{heading}</h2>\n<p class="about" data-text>{_text(about)}</p></header>\n'
        for scene in group:
            yield "<article>\n"
            yield from _scene_parts(scene)
            yield "</article>\n"
        yield "</section>\n"
    yield f"</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"


def _scene_parts(scene: ExportedScene) -> Iterator[str]:
    for cue in scene.cues:
        time = _linked(scene.link(cue.start_ms), clock(cue.start_ms))
        yield f'<p><span class="time">{time}</span><span data-text>{_text(cue.named_text)}</span></p>\n'
    labels = ((_("Context"), scene.context), (_("Note"), scene.note), (_("Tag"), scene.tag))
    for label, text in labels:
        if text:
            yield f'<p class="more"><span class="label">{_text(label)}</span> '
            yield f"<span data-text>{_text(text)}</span></p>\n"


def _linked(link: str | None, inner: str) -> str:
    if link is None:
        return inner
    return f'<a href="{escape(link)}" target="_blank" rel="noopener noreferrer">{inner}</a>'


def _text(text: str) -> str:
    """Return outside text for HTML, without characters that HTML forbids or that turn a line around."""
    return escape(line_text(text))
