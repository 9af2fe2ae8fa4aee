"""A tiny Whisper for CTranslate2 with the same files as Systran/faster-whisper-small, which says a given text.

The real libraries load and run it. Every position of its decoder has a fixed token, whatever the sound, because only
the position's encoding reaches the projection. Words follow each other, all equally long.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

LANGUAGES = ("en", "ko", "ja", "th")
WIDTH = 32
"""Maximum tokens of the text."""
_TEXT, _SPECIAL, _ALL = 50_257, 50_363, 51_865
"""First ids of special tokens and of times, and their number in a multilingual model."""
BEGIN = "<|startoftranscript|>"


def tiny_whisper(folder: Path, text: str, *, language: str = "ko", seconds: float = 5.0) -> Path:
    """Make a model that says `text` in every window within `seconds`, for any sound; return its new folder.

    `language` is the language that it detects.
    """
    from ctranslate2.specs import whisper_spec

    words = [f" {word}" for word in text.split()]
    vocabulary = _vocabulary(tuple(dict.fromkeys(words)))
    ids = {token: number for number, token in enumerate(vocabulary)}
    random = np.random.default_rng(0)

    def noise(*shape: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
        return (random.standard_normal(shape) * 1e-4).astype(np.float32)

    spec = whisper_spec.WhisperSpec(1, 1, 1, 1)
    for convolution, inputs in ((spec.encoder.conv1, 80), (spec.encoder.conv2, WIDTH)):
        convolution.weight, convolution.bias = noise(WIDTH, inputs, 3), noise(WIDTH)
    frames = noise(1500, WIDTH)
    for frame in range(round(seconds * 50)):  # the decoder's positions attend to these one after another
        frames[frame, 3 + int(frame * len(words) / (seconds * 50))] = 1.0
    spec.encoder.position_encodings.encodings = frames
    decoder, encoder = spec.decoder, spec.encoder
    for attention, sizes in (
        (encoder.layer[0].self_attention, (3, 1)),
        (decoder.layer[0].self_attention, (3, 1)),
        (decoder.layer[0].attention, (1, 2, 1)),
    ):
        for linear, size in zip(attention.linear, sizes, strict=True):
            linear.weight, linear.bias = noise(size * WIDTH, WIDTH), noise(size * WIDTH)
    look = np.eye(WIDTH, dtype=np.float32) * 3
    decoder.layer[0].attention.linear[0].weight = look
    decoder.layer[0].attention.linear[1].weight[:WIDTH] = look
    norms = [encoder.layer_norm, decoder.layer_norm]
    for layer in (encoder.layer[0], decoder.layer[0]):
        norms += [layer.self_attention.layer_norm, layer.ffn.layer_norm]
        for linear in (layer.ffn.linear_0, layer.ffn.linear_1):
            linear.weight, linear.bias = noise(WIDTH, WIDTH), noise(WIDTH)
    for norm in [*norms, decoder.layer[0].attention.layer_norm]:
        norm.gamma, norm.beta = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    decoder.embeddings.weight = noise(_ALL, WIDTH)
    positions = noise(448, WIDTH)
    projection = noise(_ALL, WIDTH)
    end = min(30.0, seconds)
    # the prompt has three tokens; the language is detected after the first
    time = f"<|{end:.2f}|>"
    said = [f"<|{language}|>", "", "<|0.00|>", *map(_bytes, words), time, time, "<|endoftext|>"]
    for position in range(WIDTH):
        positions[position, position] = 1.0
        token = said[min(position, len(said) - 1)]
        if token:
            projection[ids[token], position] = 10.0
    decoder.position_encodings.encodings = positions
    decoder.projection.weight = projection
    spec.register_vocabulary(list(vocabulary))
    spec.config.lang_ids = [ids[f"<|{each}|>"] for each in LANGUAGES]
    spec.config.suppress_ids, spec.config.suppress_ids_begin = [], []
    spec.config.alignment_heads = [(0, 0)]
    spec.validate()
    spec.optimize(quantization="int8")
    folder.mkdir(parents=True)
    spec.save(str(folder))
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer(vocabulary)), encoding="utf-8")
    return folder


def _vocabulary(words: Sequence[str]) -> list[str]:
    tokens = [*_letters().values(), *map(_bytes, words)]
    # an empty last token marks multilingual models for CTranslate2
    tokens += [*(f"unused{number}" for number in range(_TEXT - len(tokens) - 1)), ""]
    special = ["<|endoftext|>", BEGIN, *(f"<|{language}|>" for language in LANGUAGES)]
    last = ["<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]
    filler = [f"<|language{number}|>" for number in range(_SPECIAL + 1 - _TEXT - len(special) - len(last))]
    times = [f"<|{number * 0.02:.2f}|>" for number in range(_ALL - _SPECIAL - 1)]
    return [*tokens, *special, *filler, *last, *times]


def _tokenizer(vocabulary: Sequence[str]) -> dict[str, object]:
    special = [
        {"id": number, "content": vocabulary[number], "special": True}
        | dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        for number in range(_TEXT, _SPECIAL + 1)
    ]
    parts = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    ids = {token: number for number, token in enumerate(vocabulary[:_TEXT])}
    model: dict[str, object] = {"type": "BPE", "vocab": ids, "merges": [], "unk_token": None}
    return {
        "version": "1.0",
        "added_tokens": special,
        "pre_tokenizer": parts,
        "decoder": parts,
        "model": model
        | dict.fromkeys(("continuing_subword_prefix", "end_of_word_suffix", "dropout"))
        | {"fuse_unk": False, "byte_fallback": False},
    }


def _bytes(text: str) -> str:
    """Return a text in the spelling of a byte vocabulary."""
    return "".join(_letters()[byte] for byte in text.encode())


@cache
def _letters() -> dict[int, str]:
    """Return the letter of each byte, as in GPT-2."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + at) for at, byte in enumerate(others)}
