"""A tiny checkpoint with random weights, made by the project's own code, and the app on top of it."""

from __future__ import annotations

import functools
import gc
import inspect
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from streamlit.components.v2 import manifest_scanner

from benchmarks.support.server import serve
from model import load_translator
from model.config import TransformerConfig
from model.running.translator import Translator
from model.storage import checkpoint
from model.text.special import BYTE_TOKENS, EOS_ID, SPECIAL_TOKENS
from model.text.subwords import Tokenizer
from model.transformer import Transformer
from tests.support import forget

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "A man is riding a bicycle down the street.",
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "Ein Mann fährt auf einem Fahrrad die Straße hinunter.",
]
CARD = {
    "source": "en",
    "target": "de",
    "parameters": 1_234_567,
    "data": {"toys": {"weight": 1.0}},
    "scores": {"toys/test": {"bleu": 12.34, "beam": 4}},
}
# Every number is another one, and the decoder has fewer layers than the encoder.
SIZES = {"d_model": 32, "n_heads": 4, "n_encoder_layers": 3, "n_decoder_layers": 2, "d_ff": 40, "max_length": 60}
SEED = 9  # with these weights translations are short, and a beam finds other ones than greedy search


def save_tiny(folder: Path, card: dict = CARD, **changes) -> Path:
    """Writes a checkpoint whose heads all differ; returns its folder."""
    tokenizer = Tokenizer.train(SENTENCES, vocab_size=380, alphabet_size=50)
    torch.manual_seed(SEED)
    sizes = SIZES | {"tie_embeddings": False, "output_bias": True} | changes
    model = Transformer(TransformerConfig(vocab_size=len(tokenizer), **sizes))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.add_((0.3 if "attention" in name else 0.1) * torch.randn_like(parameter))  # sharpens the heads
        model.output.bias[: len(SPECIAL_TOKENS) + len(BYTE_TOKENS)] = -20  # pieces of words only
        model.output.bias[EOS_ID] = 1  # and an end
    checkpoint.save(folder, model, tokenizer, card)
    return folder


@pytest.fixture(scope="session", autouse=True)
def scan_once() -> Iterator[None]:
    """Lets Streamlit look once for packages with components: every AppTest reads the metadata of all packages again."""
    scan = functools.cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of checkpoints with the tiny one in it, under the name that the app starts with."""
    folder = tmp_path_factory.mktemp("checkpoints")
    save_tiny(folder / "en-de")
    return folder


@pytest.fixture(scope="module", autouse=True)
def quick_collection() -> Iterator[None]:
    """Keeps what is loaded out of the garbage collection that Streamlit starts after every run, as app.py does."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def tiny_checkpoint(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has every page of these tests use the tiny checkpoint."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(checkpoints))


@pytest.fixture(autouse=True)
def clean_streamlit_caches(request: pytest.FixtureRequest) -> Iterator[None]:
    """In place of emptying them after every test: pages with the same models compute the same.

    But for tests that put something in the place of what computes, and files that say `OWN_CACHES = True`.
    """
    parameters = inspect.signature(request.function).parameters
    clears_caches = "monkeypatch" in parameters or hasattr(request.module, "OWN_CACHES")
    if clears_caches:
        forget()
    yield
    if clears_caches:
        forget()


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a checkpoint of every system."""
    from tests.test_app import systems  # which is made of what stands here

    return systems.save_all(tmp_path_factory.mktemp("all"))


@pytest.fixture
def all_systems(everything: Path, tiny_checkpoint: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has every page of a test find all systems."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(everything))


@pytest.fixture(scope="session")
def recorded(checkpoints: Path) -> Translator:
    """The same checkpoint, loaded for itself: what pages draw is compared with what this one records."""
    return load_translator(str(checkpoints / "en-de"))


@pytest.fixture(scope="session")
def app_server(checkpoints: Path) -> Iterator[str]:
    """The address of the app, served with the tiny checkpoint."""
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:  # for the server alone: other tests of this process have their own
            patch.setenv("HEADLIGHT_CHECKPOINTS", str(checkpoints))
            url = stack.enter_context(serve())
        yield url


@pytest.fixture
def all_served(checkpoints: Path, everything: Path) -> Iterator[None]:
    """Adds the other systems to the folder that the server reads, for one test."""
    names = [folder.name for folder in everything.iterdir() if not (checkpoints / folder.name).exists()]
    for name in names:
        shutil.copytree(everything / name, checkpoints / name)
    yield
    for name in names:
        shutil.rmtree(checkpoints / name)


@pytest.fixture(scope="session")
def shipped_server() -> Iterator[str]:
    """The app with the model that ships."""
    with serve(environment={"HEADLIGHT_CHECKPOINTS": str(Path(__file__).parents[2] / "checkpoints")}) as url:
        yield url


@pytest.fixture(scope="session")
def offline_profile(browser: Browser) -> Iterator[BrowserContext]:
    """The browser context without any network in which the tests open files, one after the other."""
    profile = browser.new_context(offline=True)
    profile.new_page()  # keeps its process
    yield profile
    profile.close()


@pytest.fixture
def offline(offline_profile: BrowserContext) -> Iterator[tuple[Page, list[str]]]:
    """A page without any network, and what it complained about or asked for."""
    page, complaints = offline_profile.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else complaints.append(request.url),
    )
    yield page, complaints
    page.close()
