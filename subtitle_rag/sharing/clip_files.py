"""Clips of scenes, from video files or from downloaded sections of YouTube videos."""

import hashlib
import logging
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Literal

from subtitle_rag.base.config.settings import YoutubeSettings
from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.domain.values import Cue, clock
from subtitle_rag.base.ffmpeg import LOCAL, Ffmpeg, address
from subtitle_rag.base.i18n import _
from subtitle_rag.captions.file_names import MEDIA_SUFFIXES, SOUND
from subtitle_rag.sharing.exported_scene import ExportedScene
from subtitle_rag.sharing.subtitles import srt

logger = logging.getLogger(__name__)

Subtitles = Literal["soft", "burn", "none"]

HEIGHT, RATE, MAX_RATE = 720, Fraction(30), Fraction(60)
"""Maximum number of lines of a downloaded picture; frames per second of joined downloads, and the most of any clip."""
MP4 = frozenset({".mp4", ".m4v", ".mov"})
CLIP_SUFFIXES = tuple(sorted(MEDIA_SUFFIXES | {".mka"}))
WORK = ".subtitle-rag-clips-"
"""Prefix of folders with unfinished clips."""
DAY_S = 86_400
SOUND_FRAME_MS = 64
"""Longest audio packet, by which a file's sound may outlast its picture."""
ENCODED = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p")
SOUND_ENCODED = ("-c:a", "aac", "-b:a", "160k", "-ar", "48000", "-ac", "2")
_CAPTIONS = "captions.srt"


@dataclass(frozen=True, slots=True)
class ClipOptions:
    exact: bool = False
    """Encode, so that a clip begins and ends with its scene; otherwise it begins at the previous key frame."""
    subtitles: Subtitles = "none"
    height: int | None = None
    """Maximum number of lines of the picture; None: `HEIGHT` for downloads, a file's own otherwise."""
    force: bool = False
    """Make existing clips again."""


@dataclass(frozen=True, slots=True)
class ClipFile:
    """A scene as a file. `is_cut_short`: the film ends before the requested scene does."""

    scene: ExportedScene
    path: Path
    is_new: bool
    is_cut_short: bool = False


def padded_span(span: ExportedScene, pad_ms: int) -> ExportedScene:
    """Return a span extended by `pad_ms` on both sides, within its video."""
    end_ms = span.end_ms + pad_ms
    if span.video.duration_ms:
        end_ms = min(end_ms, span.video.duration_ms)
    start_ms = max(0, min(span.start_ms - pad_ms, end_ms - 1))
    return replace(span, start_ms=start_ms, end_ms=end_ms)


@dataclass(frozen=True, slots=True)
class JoinFormat:
    """Format that all parts of a joined video share."""

    width: int
    height: int
    rate: Fraction
    """Frames per second."""

    @property
    def filters(self) -> tuple[str, ...]:
        """ffmpeg's filters to fit a picture into the format, with black bars if its shape differs."""
        size = f"{self.width}:{self.height}"
        return (
            "scale='trunc(iw*sar/2)*2':'trunc(ih/2)*2'",
            f"scale={size}:force_original_aspect_ratio=decrease",
            f"pad={size}:(ow-iw)/2:(oh-ih)/2",
            "setsar=1",
            f"fps={self.rate}",
        )

    def __str__(self) -> str:
        """Return the format as part of a file name."""
        return f"{self.width}x{self.height}-{self.rate.numerator}-{self.rate.denominator}"


def _clip_suffix(source: Path, *, encoded: bool) -> str:
    """Return the suffix of the container for a clip of this file."""
    if source.suffix.lower() in SOUND:
        return ".m4a" if encoded else ".mka"
    return ".mp4" if encoded or source.suffix.lower() in MP4 else ".mkv"


@dataclass(frozen=True, slots=True)
class ClipMaker:
    """Maker of clips in a folder: each is complete or missing, and a complete one is not made again."""

    ffmpeg: Ffmpeg
    folder: Path
    options: ClipOptions
    youtube: YoutubeSettings
    progress: Callable[[float], object] = lambda _seconds: None
    """Called with the number of seconds written of the current clip."""

    def fit(self, scene: ExportedScene) -> ExportedScene:
        """Return a scene cut at the end of its film.

        Raises:
            UsageError: `beyond_end`.
            AppError: `clip_failed`, if the film cannot be read.
        """
        length_ms = self.ffmpeg.probe(scene.media).length_ms if scene.media else scene.video.duration_ms
        if not length_ms:
            return scene
        if scene.start_ms >= length_ms:
            title, value, length = scene.video.title, clock(scene.start_ms), clock(length_ms)
            raise UsageError("beyond_end", value=value, video=title, length=length)
        return replace(scene, end_ms=min(scene.end_ms, length_ms))

    def make(self, requested: ExportedScene) -> ClipFile:
        """Cut a scene out of its video's file, or download that section.

        Raises:
            UsageError: `beyond_end`.
            AppError: `clip_failed`, `clip_without_video`, `unwritable`, and YouTube's codes.
        """
        scene = self.fit(requested)
        is_cut_short = requested.end_ms - scene.end_ms > SOUND_FRAME_MS
        name, length_ms = _name(scene, self.options), scene.end_ms - scene.start_ms
        files = [] if self.options.force else [self.folder / f"{name}{suffix}" for suffix in CLIP_SUFFIXES]
        for present in filter(Path.is_file, files):
            if self._is_whole(present, length_ms, exact=self.options.exact):
                return ClipFile(scene, present, is_new=False, is_cut_short=is_cut_short)
        with _work_folder(self.folder, name) as work:
            clip = self._cut(scene, work)
            self._require_whole(clip, length_ms, exact=self.options.exact)
            path = clip.replace(self.folder / f"{name}{clip.suffix}")
            return ClipFile(scene, path, is_new=True, is_cut_short=is_cut_short)

    def join(
        self, scenes: Sequence[ExportedScene], done: Callable[[ExportedScene], object], file_name: str | None = None
    ) -> Path:
        """Make one video of all scenes, in order, with the largest size and the highest frame rate of its files.

        Scenes cut in an earlier run are not cut again.

        Args:
            scenes: the scenes to cut.
            done: called with each scene once it is cut.
            file_name: name of the video in the folder; by default made from the scenes.

        Returns:
            The path of the video.

        Raises:
            UsageError: `export_exists` if the file exists; `beyond_end`.
            AppError: as `make`.
        """
        options = self.options
        scenes = [self.fit(scene) for scene in scenes]
        form = self._join_format(scenes)
        length_ms = sum(scene.end_ms - scene.start_ms for scene in scenes)
        names = [f"{_name(scene, replace(options, exact=True))}-{form}" for scene in scenes]
        name = f"scenes-{hashlib.sha256(' '.join(names).encode()).hexdigest()[:12]}"
        target = self.folder / (file_name or f"{name}.mp4")
        if target.is_file() and not options.force:
            if file_name is not None:
                raise UsageError("export_exists", path=str(target))
            if self._is_whole(target, length_ms, parts=len(scenes)):
                return target
        with _work_folder(self.folder, name, keep_on_failure=True) as work:
            for number, (scene, part) in enumerate(zip(scenes, names, strict=True)):
                if not (work / f"{part}.mp4").exists():
                    with _work_folder(work, str(number)) as inner:
                        file = self._part(scene, form, inner)
                        self._require_whole(file, scene.end_ms - scene.start_ms)
                        file.replace(work / f"{part}.mp4")
                done(scene)
            (work / "list.txt").write_text("".join(f"file '{part}.mp4'\n" for part in names), encoding="utf-8")
            arguments = [*LOCAL, "-f", "concat", "-i", "list.txt"]
            if options.subtitles == "soft" and self._write_captions(scenes, work):
                arguments += [*LOCAL, "-i", _CAPTIONS, "-map", "0", "-map", "1", "-c:s", "mov_text"]
            arguments += ["-c:v", "copy", "-c:a", "copy"]
            joined = self._write(arguments, work / "joined.mp4")
            self._require_whole(joined, length_ms, parts=len(scenes))
            return joined.replace(target)

    def _require_whole(self, file: Path, length_ms: int, *, exact: bool = True, parts: int = 1) -> None:
        """Raise AppError `clip_failed` unless a file has sound or a picture, and the length of its scenes.

        Without `exact` it may begin at the previous key frame. Each of its parts ends with a whole frame.
        """
        probe = self.ffmpeg.probe(file)
        excess_ms = (probe.length_ms or 0) - length_ms
        tolerance_ms = parts * (SOUND_FRAME_MS + probe.frame_ms)
        is_near = -tolerance_ms <= excess_ms and (excess_ms <= tolerance_ms or not exact)
        if not (is_near and probe.streams & {"video", "audio"}):
            seconds = {"length": f"{(probe.length_ms or 0) / 1000:.1f}", "wanted": f"{length_ms / 1000:.1f}"}
            raise AppError("clip_failed", reason=_("{length} s came instead of {wanted} s").format(**seconds))

    def _is_whole(self, file: Path, length_ms: int, *, exact: bool = True, parts: int = 1) -> bool:
        try:
            self._require_whole(file, length_ms, exact=exact, parts=parts)
        except AppError:
            logger.info("a clip that was there is made again", exc_info=True)
            return False
        return True

    def _cut(self, scene: ExportedScene, work: Path) -> Path:
        options = self.options
        source, start_ms = self._source(scene, work, exact=options.exact or options.subtitles != "none")
        is_download = start_ms == 0 and source.parent == work
        if is_download and options.subtitles == "none":
            return source
        if source.suffix.lower() in SOUND and options.subtitles == "burn":
            raise AppError("clip_without_picture", file=str(source))
        # captions need a clip that begins exactly at its second
        encoded = options.subtitles == "burn" or (
            not is_download and (options.exact or options.subtitles == "soft" or options.height is not None)
        )
        suffix = _clip_suffix(source, encoded=encoded)
        has_captions = options.subtitles != "none" and self._write_captions([scene], work)
        arguments = [*_input(source, start_ms, scene)]
        if options.subtitles == "soft" and has_captions:
            arguments += [*LOCAL, "-i", _CAPTIONS, "-map", "1:s:0", "-c:s", "mov_text" if suffix == ".mp4" else "srt"]
        arguments += ["-map", "0:v:0?", "-map", "0:a:0?"]
        if encoded:
            arguments += self._encoding(burns=options.subtitles == "burn" and has_captions)
        else:
            arguments += ["-c:v", "copy", "-c:a", "copy", "-avoid_negative_ts", "make_zero"]
        return self._write(arguments, work / f"clip{suffix}")

    def _encoding(self, *, burns: bool) -> list[str]:
        height = self.options.height
        filters = [f"scale=-2:'min(ih,{height})'"] if height else []
        if burns:
            filters.append(f"subtitles={_CAPTIONS}")
        return [*(("-vf", ",".join(filters)) if filters else ()), *ENCODED, *SOUND_ENCODED]

    def _join_format(self, scenes: Sequence[ExportedScene]) -> JoinFormat:
        """Return the largest size and highest frame rate of files and downloads; raise AppError `clip_failed`."""
        probes = [self.ffmpeg.probe(media) for media in {scene.media for scene in scenes if scene.media}]
        sizes = [probe.size for probe in probes if probe.size]
        if not sizes or any(scene.media is None for scene in scenes):
            sizes.append((self._download_height * 16 // 9, self._download_height))
        width, height = max(sizes, key=lambda size: (size[1], size[0]))
        if self.options.height and height > self.options.height:
            width, height = round(width * self.options.height / height), self.options.height
        rate = max((probe.rate for probe in probes), default=RATE) or RATE
        return JoinFormat(width // 2 * 2, height // 2 * 2, min(rate, MAX_RATE))

    @property
    def _download_height(self) -> int:
        return self.options.height or HEIGHT

    def _part(self, scene: ExportedScene, form: JoinFormat, work: Path) -> Path:
        """Encode a scene with the size, rate and sound of the joined video."""
        source, start_ms = self._source(scene, work, exact=True)
        streams = self.ffmpeg.probe(source).streams
        if "video" not in streams:
            raise AppError("clip_without_picture", file=str(source))
        filters = [*form.filters]
        if self.options.subtitles == "burn" and self._write_captions([scene], work):
            filters.append(f"subtitles={_CAPTIONS}")
        arguments = [*_input(source, start_ms, scene)]
        silence = "audio" not in streams
        if silence:
            arguments += ["-f", "lavfi", "-i", "anullsrc=r=48000:cl=stereo"]
        arguments += ["-map", "0:v:0", "-map", "1:a" if silence else "0:a:0", "-vf", ",".join(filters)]
        arguments += [*ENCODED, *SOUND_ENCODED, "-t", _seconds(scene.end_ms - scene.start_ms)]
        return self._write(arguments, work / "part.mp4")

    def _write(self, arguments: Sequence[str], file: Path) -> Path:
        """Run ffmpeg in the folder of its output file."""
        self.ffmpeg.run([*arguments, address(file)], file.parent, self.progress)
        return file

    def _source(self, scene: ExportedScene, work: Path, *, exact: bool) -> tuple[Path, int]:
        """Return the file to cut, and the scene's time in it."""
        if scene.media is not None:
            return scene.media, scene.start_ms
        if not scene.video.url:
            raise AppError("clip_without_video", video=scene.video.title)
        from subtitle_rag.youtube.session import Session

        session = Session(self.youtube)
        try:
            span_s, height = (scene.start_ms / 1000, scene.end_ms / 1000), self._download_height
            return session.section(scene.video.url, scene.video.title, span_s, work, height=height, exact=exact), 0
        finally:
            session.close()

    def _write_captions(self, scenes: Sequence[ExportedScene], work: Path) -> bool:
        """Write the captions of consecutive scenes; return whether there are any."""
        cues: list[Cue] = []
        at_ms = 0
        for scene in scenes:
            length = scene.end_ms - scene.start_ms
            for cue in scene.cues:
                start_ms, end_ms = max(0, cue.start_ms - scene.start_ms), min(cue.end_ms - scene.start_ms, length)
                if start_ms < end_ms:
                    cues.append(replace(cue, start_ms=at_ms + start_ms, end_ms=at_ms + end_ms, word_starts=()))
            at_ms += length
        if cues:
            text = srt([replace(scenes[0], cues=tuple(cues))], "")
            (work / _CAPTIONS).write_text(text, encoding="utf-8", newline="\n")
        return bool(cues)


@contextmanager
def _work_folder(parent: Path, name: str, *, keep_on_failure: bool = False) -> Iterator[Path]:
    """Make a folder for unfinished files next to the finished ones; folders of killed runs go after a day."""
    folder = parent / f"{WORK}{name}"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for old in parent.glob(f"{WORK}*"):
            if old != folder and time.time() - old.stat().st_mtime > DAY_S:
                shutil.rmtree(old, ignore_errors=True)
        if not keep_on_failure:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise AppError("unwritable", path=str(parent), reason=error.strerror or str(error)) from error
    is_over = not keep_on_failure
    try:
        yield folder
        is_over = True
    finally:
        if is_over:
            shutil.rmtree(folder, ignore_errors=True)


def _input(source: Path, start_ms: int, scene: ExportedScene) -> tuple[str, ...]:
    length = _seconds(scene.end_ms - scene.start_ms)
    return (*LOCAL, "-ss", _seconds(start_ms), "-t", length, "-i", address(source))


def _seconds(ms: int) -> str:
    return f"{ms / 1000:.3f}"


def _name(scene: ExportedScene, options: ClipOptions) -> str:
    """Return a clip's name without suffix, from the video's id, the times and the options."""
    parts = [_safe_id(scene), f"{scene.start_ms}-{scene.end_ms}"]
    parts += ["exact"] * options.exact + [options.subtitles] * (options.subtitles != "none")
    parts += [f"{options.height}p"] * (options.height is not None)
    return "_".join(parts)


def clip_of(folder: Path, scene: ExportedScene) -> Path | None:
    """Return the shortest clip in a folder that has the whole scene; raise UsageError `unreadable`."""
    pattern = re.compile(rf"{re.escape(_safe_id(scene))}_(\d{{1,12}})-(\d{{1,12}})(?:_\w+)*\.\w+", re.ASCII)
    spans: list[tuple[int, str, Path]] = []
    try:
        for path in folder.iterdir():
            if (match := pattern.fullmatch(path.name)) and path.suffix in CLIP_SUFFIXES:
                start_ms, end_ms = int(match[1]), int(match[2])
                if start_ms <= scene.start_ms and end_ms >= scene.end_ms:
                    spans.append((end_ms - start_ms, path.name, path))
    except OSError as error:
        raise UsageError("unreadable", path=str(folder), reason=error.strerror or str(error)) from error
    return min(spans)[2] if spans else None


def _safe_id(scene: ExportedScene) -> str:
    return re.sub(r"[^0-9A-Za-z_-]", "_", scene.video.id)[:64]
