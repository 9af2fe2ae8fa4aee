"""Synthetic sound: a voice that says vowels, noise, music, and silence."""

import wave
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Sound: TypeAlias = NDArray[np.float32]
RATE = 16_000
_VOWELS = ((730, 1090, 2440), (270, 2290, 3010), (570, 840, 2410), (440, 1020, 2240), (530, 1840, 2480))
"""Formants of a, i, o, u and e."""


def voice(seconds: float, *, level: float = 0.1, seed: int = 0) -> Sound:
    """Return a voice that says five vowels per second with a moving tone, as in speech; `level` is its RMS."""
    random = np.random.default_rng(seed)
    size = round(seconds * RATE)
    time = np.arange(size) / RATE
    pitch = 130 + 25 * np.sin(2 * np.pi * 0.7 * time) + 8 * np.sin(2 * np.pi * 5 * time)
    phase = np.cumsum(pitch) / RATE
    pulses = np.maximum(0, 1 - 6 * (phase % 1)) + random.normal(0, 0.01, size)
    syllable = RATE // 5
    pieces = []
    for begin in range(0, size, syllable):
        part = pulses[begin : begin + syllable]
        spectrum, bands = np.fft.rfft(part), np.fft.rfftfreq(len(part), 1 / RATE)
        formants = _VOWELS[random.integers(len(_VOWELS))]
        shape = sum(1 / (1 + ((bands - formant) / 90) ** 2) / (1 + number) for number, formant in enumerate(formants))
        spoken = np.fft.irfft(spectrum * shape, len(part))
        pieces.append(spoken * np.sin(np.pi * np.linspace(0.05, 0.95, len(part))) ** 0.5)
    sound = np.concatenate(pieces)
    return np.asarray(sound * level / np.sqrt(np.mean(sound**2)), dtype=np.float32)


def silence(seconds: float) -> Sound:
    return np.zeros(round(seconds * RATE), np.float32)


def noise(seconds: float, *, level: float = 0.1) -> Sound:
    return np.random.default_rng(1).normal(0, level, round(seconds * RATE)).astype(np.float32)


def music(seconds: float, *, level: float = 0.1) -> Sound:
    """Return chords."""
    time = np.arange(round(seconds * RATE)) / RATE
    chord = sum(np.sin(2 * np.pi * tone * time) for tone in (262.0, 330.0, 392.0))
    return np.asarray(chord * level / 1.2, dtype=np.float32)


def write_wav(path: Path, *sounds: Sound, rate: int = RATE, channels: int = 1) -> Path:
    """Write the sounds one after another to a 16-bit file."""
    samples = (np.clip(np.concatenate(sounds), -1, 1) * 32767).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.repeat(samples, channels).tobytes())
    return path
