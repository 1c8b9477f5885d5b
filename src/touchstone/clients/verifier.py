"""The installed package of the extra `deep` -> a verifier: a small model that reads a sentence beside its evidence.

A pair is read alone and at its own length: int8 activations are scaled over all that is read together, so that in a
batch a sentence's chances would depend on its neighbours.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touchstone.core.errors import ResourceError
from touchstone.core.result import Chances
from touchstone.evidence.verifier.model import Card, Pair, Verifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PACKAGE = "touchstone_verifier"
FORMAT = 1
LABELS = list(Chances._fields)
INSTALL = 'pip install "touchstone-eval[deep]"'
DIGITS = 4


@cache
def installed_verifier() -> Verifier:
    """The verifier of this environment; ResourceError when it is missing or broken."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ResourceError(f"the verifier 'deep' needs {PACKAGE}, which is not installed: {INSTALL}")
    return open_verifier(Path(spec.submodule_search_locations[0]))


def open_verifier(home: Path) -> Verifier:
    """The verifier whose files are in this directory."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ResourceError(f"the verifier 'deep' needs onnxruntime, which is not installed: {INSTALL}") from error
    from tokenizers import Tokenizer

    settings = _settings(home)
    model = _content(home / "model.onnx", sha=settings.sha256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    onnxruntime.disable_telemetry_events()
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_str((home / "tokenizer.json").read_text(encoding="utf-8"))
    # Both libraries raise kinds of their own, some of them plain exceptions.
    except Exception as error:
        raise _broken(home, f"its model cannot be loaded, {type(error).__name__}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(settings.max_tokens)
    # Otherwise a reply that writes [SEP] would part the texts where it likes.
    tokenizer.encode_special_tokens = True
    verifier = _Model(settings.card, session, tokenizer, settings.calibration)
    verifier.check(home)
    return verifier


@dataclass(frozen=True, slots=True)
class _Calibration:
    """Logits -> probabilities that are as often right as they say."""

    temperature: float
    bias: tuple[float, ...]

    def chances(self, logits: "NDArray[np.float32]") -> Chances:
        import numpy as np

        scaled = logits.astype(np.float64) / self.temperature + np.asarray(self.bias)
        powers = np.exp(scaled - scaled.max())
        return Chances(*(round(float(share), DIGITS) for share in powers / powers.sum()))


@dataclass(frozen=True, slots=True)
class _Settings:
    """What verifier.json says of the model."""

    card: Card
    sha256: str
    max_tokens: int
    calibration: _Calibration


@dataclass(frozen=True, slots=True)
class _Model:
    """A loaded model with its tokenizer."""

    card: Card
    session: Any
    tokenizer: Any
    calibration: _Calibration

    def read(self, pairs: Sequence[Pair]) -> list[Chances]:
        return [self.calibration.chances(self._logits(pair)[0]) for pair in pairs]

    def check(self, home: Path) -> None:
        """One pair is read, so that a model of another shape is found out before the first reply."""
        try:
            shape = self._logits(Pair("It is due on Monday.", "Due on Monday.")).shape
        except Exception as error:
            raise _broken(home, f"its model cannot be run, {type(error).__name__}") from error
        if shape != (1, len(LABELS)):
            raise _broken(home, f"its model answers in the shape {shape}, not (1, {len(LABELS)})")

    def _logits(self, pair: Pair) -> "NDArray[np.float32]":
        import numpy as np

        # Half a character pair, which a JSON file may hold, is no text that a tokenizer takes.
        texts = [text.encode("utf-8", "replace").decode("utf-8") for text in pair]
        read = self.tokenizer.encode(*texts)
        inputs = {"input_ids": read.ids, "attention_mask": read.attention_mask, "token_type_ids": read.type_ids}
        given = {name: np.asarray([ids], dtype=np.int64) for name, ids in inputs.items()}
        logits: NDArray[np.float32] = self.session.run(["logits"], given)[0]
        return logits


def _settings(home: Path) -> _Settings:
    """verifier.json, every key that is needed being there and of its kind."""
    try:
        content = json.loads((home / "verifier.json").read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ResourceError(
                f"the verifier in {home} has format {content['format']}, this version of Touchstone reads {FORMAT}: "
                "install touchstone-eval and touchstone-verifier of one release"
            )
        if content["labels"] != LABELS:
            raise _broken(home, f"its labels are {content['labels']}, not {LABELS}")
        card = Card(
            name=str(content["name"]),
            version=str(content["version"]),
            hash=str(content["sha256"])[:16],
            evidence_sentences=int(content["evidence_sentences"]),
            cut=float(content["cuts"]["hallucination"]),
        )
        return _Settings(card, content["sha256"], int(content["max_tokens"]), _calibration(content["calibration"]))
    except (OSError, ValueError) as error:
        raise _broken(home, "its verifier.json cannot be read") from error
    except (KeyError, TypeError) as error:
        raise _broken(home, f"its verifier.json lacks {error}") from error


def _calibration(row: Mapping[str, Any]) -> _Calibration:
    temperature = float(row["temperature"])
    if not temperature > 0:
        raise ValueError
    return _Calibration(temperature, tuple(map(float, row.get("bias", (0.0,) * len(LABELS)))))


def _content(path: Path, *, sha: str) -> bytes:
    """The file, if it is the one that was published."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _broken(path.parent, f"{path.name} cannot be read, {error.strerror}") from error
    if sha256(content).hexdigest() != sha:
        raise _broken(path.parent, f"{path.name} is not the file that its verifier.json names ({len(content):,} bytes)")
    return content


def _broken(home: Path, problem: str) -> ResourceError:
    return ResourceError(f"the verifier in {home} is broken: {problem}; reinstall it: {INSTALL}")
