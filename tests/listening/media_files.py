"""Media files of every kind, good and hostile, made by PyAV and by hand."""

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.made_sound import Sound, voice, write_wav

Maker = Callable[[Path], Path]


def encoded(path: Path, codec: str, *, rate: int = 16_000, layout: str = "mono", sound: Sound | None = None) -> Path:
    """A file with the sound in the container of its suffix."""
    import av
    from av.audio.resampler import AudioResampler

    samples = voice(4) if sound is None else sound
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=rate)
        stream.layout = layout
        # an encoder of FFmpeg names what it takes
        taken = stream.codec_context.codec.audio_formats
        stream.format = taken[0].name if taken else "s16"
        resampler = AudioResampler(stream.format.name, layout, rate)
        for begin in range(0, len(samples), 16_000):
            frame = av.AudioFrame.from_ndarray(samples[None, begin : begin + 16_000], format="flt", layout="mono")
            frame.sample_rate = 16_000
            frame.pts = begin
            for part in resampler.resample(frame):
                container.mux(stream.encode(part))
        for part in resampler.resample(None):
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return path


def picture_only(path: Path) -> Path:
    """A film without a sound track."""
    import av

    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("mpeg4", rate=25)
        stream.width = stream.height = 64
        for number in range(5):
            frame = av.VideoFrame.from_ndarray(np.full((64, 64, 3), number * 9, np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def of_bytes(raw: bytes) -> Maker:
    def make(path: Path) -> Path:
        path.write_bytes(raw)
        return path

    return make


def cut(suffix: str, codec: str, share: float) -> Maker:
    """The first part of a file."""

    def make(path: Path) -> Path:
        whole = encoded(path.with_name(f"whole{suffix}"), codec)
        raw = whole.read_bytes()
        whole.unlink()
        path.write_bytes(raw[: round(len(raw) * share)])
        return path

    return make


def garbled(suffix: str, codec: str, seed: int) -> Maker:
    """A file of which bytes are changed, behind its header and in it."""

    def make(path: Path) -> Path:
        whole = encoded(path.with_name(f"whole{suffix}"), codec)
        raw = bytearray(whole.read_bytes())
        whole.unlink()
        chance = random.Random(seed)
        for _time in range(max(20, len(raw) // 100)):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
        path.write_bytes(raw)
        return path

    return make


def wave_header(*, rate: int, channels: int, bits: int = 16, size: int = 2**32 - 1, kind: int = 1) -> bytes:
    """The header of a WAV file, whatever it says."""
    block = channels * bits // 8
    form = struct.pack("<HHIIHH", kind, channels, rate, (rate * block) % 2**32, block % 2**16, bits)
    return (
        b"RIFF"
        + struct.pack("<I", 2**32 - 1)
        + b"WAVEfmt "
        + struct.pack("<I", 16)
        + form
        + b"data"
        + struct.pack("<I", size)
    )


def box(kind: bytes, *parts: bytes) -> bytes:
    """A box of an MP4 file."""
    raw = b"".join(parts)
    return struct.pack(">I", len(raw) + 8) + kind + raw


def protected(path: Path) -> Path:
    """An MP4 whose sound is encrypted."""
    whole = encoded(path.with_name("whole.m4a"), "aac")
    raw = whole.read_bytes()
    whole.unlink()
    path.write_bytes(raw.replace(b"mp4a", b"drms", 1))
    return path


def sparse_wav(path: Path, hours: float) -> Path:
    """Hours of silence in a file without content on the disk."""
    header = wave_header(rate=16_000, channels=1, size=round(hours * 3_600 * 32_000))
    with path.open("wb") as file:
        file.write(header)
        file.truncate(len(header) + round(hours * 3_600 * 32_000))
    return path


def samples(count: int, seed: int = 0) -> bytes:
    return np.random.default_rng(seed).integers(-9_000, 9_000, count).astype("<i2").tobytes()


def flac_with_picture(path: Path) -> Path:
    """A FLAC whose metadata block is longer than the file."""
    path.write_bytes(b"fLaC\x06\xff\xff\xff" + b"\x00" * 200)
    return path


GOOD: dict[str, Maker] = {
    "speech.wav": lambda path: write_wav(path, voice(4)),
    "stereo.wav": lambda path: write_wav(path, voice(4), channels=2),
    "24-channels.wav": lambda path: write_wav(path, voice(4), channels=24),
    "8k.wav": lambda path: encoded(path, "pcm_s16le", rate=8_000),
    "192k.wav": lambda path: encoded(path, "pcm_s16le", rate=192_000),
    "11025.flac": lambda path: encoded(path, "flac", rate=11_025),
    "surround.flac": lambda path: encoded(path, "flac", rate=48_000, layout="5.1"),
    "speech.mp4": lambda path: encoded(path, "aac", rate=44_100, layout="stereo"),
    "speech.m4a": lambda path: encoded(path, "aac", rate=48_000),
    "speech.mkv": lambda path: encoded(path, "aac", rate=48_000),
    "speech.webm": lambda path: encoded(path, "libopus", rate=48_000),
    "speech.ogg": lambda path: encoded(path, "libopus", rate=48_000),
    "speech.mp3": lambda path: encoded(path, "mp3", rate=44_100),
    "speech.aac": lambda path: encoded(path, "aac", rate=44_100),
    "speech.ts": lambda path: encoded(path, "aac", rate=44_100),
    "speech.flv": lambda path: encoded(path, "aac", rate=44_100),
    "speech.avi": lambda path: encoded(path, "mp3", rate=44_100),
    "speech.aiff": lambda path: encoded(path, "pcm_s16be", rate=22_050),
    "speech.ac3": lambda path: encoded(path, "ac3", rate=48_000),
    "wrong suffix.txt": lambda path: write_wav(path, voice(4)),
    "mp3 by name.mp3": lambda path: write_wav(path, voice(4)),
    "한글 이름 %20 file:.wav": lambda path: write_wav(path, voice(4)),
    "-option.wav": lambda path: write_wav(path, voice(4)),
}
"""Files with four seconds of a voice."""

_HLS = b"#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n%s\n#EXT-X-ENDLIST\n"
ELSEWHERE: dict[str, Maker] = {
    "list.m3u8": of_bytes(_HLS % b"http://127.0.0.1:9/a.ts"),
    "list of files.m3u8": of_bytes(_HLS % b"file:///etc/passwd"),
    "hidden.mp4": of_bytes(_HLS % b"speech.wav"),
    "hidden behind spaces.wav": of_bytes(b"\xef\xbb\xbf\n\n" + _HLS % b"concat:/etc/passwd"),
    "concat.ffconcat": of_bytes(b"ffconcat version 1.0\nfile /etc/passwd\n"),
    "concat.mkv": of_bytes(b"ffconcat version 1.0\nfile 'http://127.0.0.1:9/a'\n"),
    "list.m3u": of_bytes(b"/etc/passwd\n"),
    "list.pls": of_bytes(b"[playlist]\nFile1=http://127.0.0.1:9/a.mp3\nNumberOfEntries=1\n"),
    "list.xspf": of_bytes(b'<?xml version="1.0"?><playlist><trackList/></playlist>'),
    "manifest.mpd": of_bytes(b'<?xml version="1.0"?><MPD><BaseURL>http://127.0.0.1:9/</BaseURL></MPD>'),
    "session.sdp": of_bytes(b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 0\r\n"),
    "list.asx": of_bytes(b'<asx version="3"><entry><ref href="mms://127.0.0.1/a"/></entry></asx>'),
    "disc.cue": of_bytes(b'FILE "/etc/passwd" WAVE\n  TRACK 01 AUDIO\n'),
}
"""Files that name others."""

_ASF = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")
_ENCRYPTION = bytes.fromhex("fbb3112223bdd211b4b700a0c955fc6e")
_ISOM = box(b"ftyp", b"isom\0\0\2\0isom")
HOSTILE: dict[str, tuple[str, Maker]] = {
    "empty.mp4": ("sound_unreadable", of_bytes(b"")),
    "one byte.wav": ("sound_unreadable", of_bytes(b"R")),
    "text.mp4": ("sound_unreadable", of_bytes("자막이 아닙니다\n".encode() * 100)),
    "page.mp4": ("sound_unreadable", of_bytes(b"<!doctype html><title>404</title>" * 50)),
    "zeros.mp3": ("sound_unreadable", of_bytes(bytes(50_000))),
    "noise.mp4": ("sound_unreadable", of_bytes(random.Random(1).randbytes(50_000))),
    "program.wav": ("sound_unreadable", of_bytes(b"\x7fELF" + random.Random(2).randbytes(5_000))),
    "archive.mkv": ("sound_unreadable", of_bytes(b"PK\x03\x04" + random.Random(3).randbytes(5_000))),
    "captions.vtt": ("sound_unreadable", of_bytes(b"WEBVTT\n\n00:00.000 --> 00:01.000\nhello\n")),
    "captions.srt": ("sound_unreadable", of_bytes(b"1\n00:00:00,000 --> 00:00:01,000\nhello\n")),
    "picture.mp4": ("sound_unreadable", of_bytes(b"\x89PNG\r\n\x1a\n" + bytes(500))),
    "cut.mp4": ("sound_unreadable", cut(".mp4", "aac", 0.5)),
    "header alone.mkv": ("sound_unreadable", cut(".mkv", "aac", 0.002)),
    "no sound.mp4": ("no_sound", picture_only),
    "no sound.mkv": ("no_sound", picture_only),
    "no sound.avi": ("no_sound", picture_only),
    "protected.m4p": ("protected", protected),
    "protected.wma": ("protected", of_bytes(_ASF + bytes(14) + _ENCRYPTION + bytes(900))),
    "audible.aax": ("protected", of_bytes(box(b"ftyp", b"aax \0\0\0\1aax ") + bytes(400))),
    "one a second.wav": ("sound_unreadable", of_bytes(wave_header(rate=1, channels=1) + samples(5_000))),
    "rate of nothing.wav": ("sound_unreadable", of_bytes(wave_header(rate=0, channels=1) + samples(5_000))),
    "no channels.wav": ("sound_unreadable", of_bytes(wave_header(rate=16_000, channels=0) + samples(5_000))),
    "endless metadata.flac": ("sound_unreadable", flac_with_picture),
    "boxes in boxes.mp4": ("no_sound", of_bytes(_ISOM + b"\0\0\0\x08moov" * 5_000)),
    "box of all.mp4": ("no_sound", of_bytes(_ISOM + b"\0\0\0\1moov\x7f" + b"\xff" * 7)),
}
"""Files that cannot be listened to, with the code that is told."""

_CODECS = {".mp4": "aac", ".mkv": "aac", ".mp3": "mp3", ".ogg": "libopus", ".flac": "flac"}
DAMAGED: dict[str, Maker] = {
    "cut.mkv": cut(".mkv", "aac", 0.6),
    "cut.mp3": cut(".mp3", "mp3", 0.5),
    "cut.ogg": cut(".ogg", "libopus", 0.5),
    "cut.ts": cut(".ts", "aac", 0.5),
    "cut.flac": cut(".flac", "flac", 0.5),
    "longer than it is.wav": of_bytes(wave_header(rate=16_000, channels=1) + samples(32_000)),
    "65535 channels.wav": of_bytes(wave_header(rate=16_000, channels=65_535) + samples(70_000)),
    "giant rate.wav": of_bytes(wave_header(rate=4_000_000_000, channels=1) + samples(60_000)),
    "unknown codec.wav": of_bytes(wave_header(rate=16_000, channels=1, kind=0x7777) + samples(5_000)),
    **{
        f"garbled {seed}{suffix}": garbled(suffix, codec, seed)
        for seed in range(3)
        for suffix, codec in _CODECS.items()
    },
}
"""Files of which a part may be heard, or that are refused: nothing else."""
