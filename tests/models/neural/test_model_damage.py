"""Model files that are damaged, foreign or hostile: told in one sentence, and nothing in them is run."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from subtitle_rag.models.neural.encoder import FlagEncoder
from subtitle_rag.models.neural.reranker import CrossReranker
from tests.support.failures import failing
from tests.support.models_here import EXACT
from tests.support.tiny_models import tiny_reranker, write_json, write_tokenizer

Harm = Callable[[Path], object]


class Bomb:
    """Leaves a file behind wherever it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.mark,)


def cut(name: str) -> Harm:
    def harm(folder: Path) -> None:
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[: len(whole) // 2])

    return harm


def without(name: str) -> Harm:
    return lambda folder: (folder / name).unlink()


def filled(name: str, text: str) -> Harm:
    def harm(folder: Path) -> None:
        (folder / name).write_text(text)

    return harm


def without_a_layer(folder: Path) -> None:
    import torch

    weights = torch.load(folder / "pytorch_model.bin", weights_only=True)
    torch.save({name: value for name, value in weights.items() if "layer.1." not in name}, folder / "pytorch_model.bin")


def of_another_width(folder: Path) -> None:
    import torch

    torch.save(torch.nn.Linear(48, 1).state_dict(), folder / "sparse_linear.pt")


def with_foreign_words(folder: Path) -> None:
    write_tokenizer(folder, [(f"말{number}", -1.0) for number in range(5000)] + [("<unk>", 0.0)])


def with_a_foreign_architecture(folder: Path) -> None:
    entry = json.loads((folder / "config.json").read_text())
    entry |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModel": "own.Model"}}
    write_json(folder / "config.json", entry)
    (folder / "own.py").write_text("from pathlib import Path\n(Path(__file__).parent / 'mark').touch()\n")


def with_a_foreign_pooling(folder: Path) -> None:
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_max_tokens": True})


@pytest.fixture
def model(encoder_folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(encoder_folder, tmp_path / "model")


def refusal(work: Callable[[], object]) -> str:
    """What the user is told."""
    with failing("model_damaged") as caught:
        work()
    assert caught.value.details["name"] == "tiny"
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400
    return caught.value.message


@pytest.mark.parametrize(
    "harm",
    [
        without("config.json"),
        filled("config.json", "{"),
        filled("config.json", "[]"),
        filled("config.json", '{"hidden_size": "wide"}'),
        without("pytorch_model.bin"),
        cut("pytorch_model.bin"),
        filled("pytorch_model.bin", ""),
        without_a_layer,
        cut("sparse_linear.pt"),
        of_another_width,
        without("tokenizer.json"),
        cut("tokenizer.json"),
        filled("tokenizer_config.json", "["),
        with_foreign_words,
        with_a_foreign_architecture,
        with_a_foreign_pooling,
    ],
)
def test_an_encoder_that_is_damaged_is_refused(model: Path, harm: Harm) -> None:
    harm(model)
    refusal(lambda: FlagEncoder(model, "tiny@00000000", EXACT).load())
    assert not (model / "mark").exists()


@pytest.mark.parametrize("name", ["pytorch_model.bin", "sparse_linear.pt", "colbert_linear.pt"])
@pytest.mark.parametrize("zipped", [True, False])
def test_weights_that_would_run_something_are_refused(model: Path, tmp_path: Path, name: str, zipped: bool) -> None:
    import torch

    mark = tmp_path / "mark"
    bomb = {"weight": Bomb(mark)}
    if zipped:
        torch.save(bomb, model / name)
    else:
        (model / name).write_bytes(pickle.dumps(bomb))
    refusal(lambda: FlagEncoder(model, "tiny@00000000", EXACT).load())
    assert not mark.exists()
    pickle.loads(pickle.dumps(bomb))
    assert mark.exists(), "the bomb is none"


def test_an_encoder_that_was_refused_is_loaded_once_it_is_mended(model: Path, encoder_folder: Path) -> None:
    encoder = FlagEncoder(model, "tiny", EXACT)
    cut("pytorch_model.bin")(model)
    refusal(encoder.load)
    shutil.copy(encoder_folder / "pytorch_model.bin", model)
    assert encoder.query("바다") == FlagEncoder(encoder_folder, "tiny", EXACT).query("바다")


def test_weights_that_give_no_numbers_are_refused(model: Path) -> None:
    import torch

    weights = torch.load(model / "pytorch_model.bin", weights_only=True)
    weights["encoder.layer.0.attention.self.value.weight"].fill_(torch.nan)
    torch.save(weights, model / "pytorch_model.bin")
    with failing("model_damaged") as caught:
        FlagEncoder(model, "tiny", EXACT).query("바다")
    assert caught.value.details["reason"] == "its weights give no numbers"


def test_a_name_is_never_taken_for_one_in_the_network(tmp_path: Path) -> None:
    for name, make in (("BAAI/bge-m3", FlagEncoder), ("BAAI/bge-reranker-v2-m3", CrossReranker)):
        with failing("model_damaged") as caught:
            make(Path(name), "tiny", EXACT)
        assert caught.value.details["reason"] == "config.json: No such file or directory", "not from the hub"


def with_own_modules(folder: Path) -> None:
    (folder / "own.py").write_text("from pathlib import Path\n(Path(__file__).parent / 'mark').touch()\n")
    write_json(folder / "config_sentence_transformers.json", {"model_type": "CrossEncoder"})
    write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": "own.Model"}])


def without_its_head(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    body = {name: value for name, value in weights.items() if not name.startswith("classifier.")}
    save_file(body, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    "harm",
    [
        without("config.json"),
        cut("model.safetensors"),
        without("model.safetensors"),
        filled("model.safetensors", "{}"),
        without_its_head,
        cut("tokenizer.json"),
        without("tokenizer.json"),
        with_foreign_words,
        with_a_foreign_architecture,
        with_own_modules,
    ],
)
def test_a_reranker_that_is_damaged_is_refused(reranker_folder: Path, tmp_path: Path, harm: Harm) -> None:
    folder = shutil.copytree(reranker_folder, tmp_path / "model")
    harm(folder)
    refusal(lambda: CrossReranker(folder, "tiny@00000000", EXACT).load())
    assert not (folder / "mark").exists()


@pytest.mark.models
def test_a_classifier_is_no_reranker(tmp_path: Path) -> None:
    folder = tiny_reranker(tmp_path / "model", labels=3)
    assert "3" in refusal(lambda: CrossReranker(folder, "tiny", EXACT).load())
