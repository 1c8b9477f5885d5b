"""A directory with a model -> a verifier: any sentence-pair classifier that was exported as ONNX.

The directory holds `model.onnx`, `tokenizer.json` and `verifier.json`, which names the model and its labels
(docs/verifier.md). A pair is read alone and at its own length: eight-bit activations are scaled over all that is read
together, so that in a batch a sentence's chances would depend on its neighbours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import file_digest, sha256
from math import exp, log
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from touchstone.core.errors import ResourceError
from touchstone.core.result import Chances, SentenceStatus
from touchstone.evidence.verification import SentencePair, Verifier, VerifierCard

MODEL, TOKENIZER, SETTINGS = "model.onnx", "tokenizer.json", "verifier.json"
HOW = "docs/verifier.md shows how to export a model"
INSTALL = 'pip install "touchstone-eval[verifier]"'
# What public models call their classes.
LABELS: Mapping[SentenceStatus, tuple[str, ...]] = {
    "supported": ("entailment", "supported", "consistent"),
    "contradicted": ("contradiction", "contradicted", "refuted"),
    "not_stated": ("neutral", "not_entailment", "not_stated", "unsupported", "hallucinated", "inconsistent"),
}
_STANDING = {label: standing for standing, labels in LABELS.items() for label in labels}
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
DIGITS = 4
# A chance nearer to 0 or 1 than this has no finite odds, and odds whose logarithm is beyond this are no other chance.
NEAREST, MOST_ODDS = 1e-9, 50.0


@cache
def open_verifier(directory: str) -> Verifier:
    """The verifier in this directory, loaded once for the process; ResourceError names what is wrong with it."""
    home = Path(directory)
    for name in (SETTINGS, TOKENIZER, MODEL):
        if not (home / name).is_file():
            raise ResourceError(
                f"{home / name} is missing: a verifier is a directory with {MODEL}, {TOKENIZER} and {SETTINGS}; {HOW}"
            )
    settings = _settings(home / SETTINGS)
    model = _Model(
        card=VerifierCard(settings.name, settings.version, _hash(home)),
        path=home / MODEL,
        settings=settings,
        session=_session(home / MODEL),
        tokenizer=_tokenizer(home / TOKENIZER, most=settings.max_tokens),
    )
    # Read once, so that a model of another kind is found out before the first reply.
    model.read([SentencePair("It is due on Monday.", "Due on Monday.")])
    return model


def _standings(labels: list[str]) -> list[str]:
    """What the labels say of a sentence, if each is known and no two say the same."""
    named = [label.casefold().replace("-", "_").replace(" ", "_") for label in labels]
    for given, label in zip(labels, named, strict=True):
        if label not in _STANDING:
            raise ValueError(f"'{given}' is not known; known are {', '.join(_STANDING)}")
    standings: list[str] = [_STANDING[label] for label in named]
    if len(set(standings)) < len(standings):
        raise ValueError(f"two of {', '.join(labels)} say the same of a sentence")
    if len(standings) > 1 and "supported" not in standings:
        raise ValueError(f"none says that a sentence is supported: name one {', '.join(LABELS['supported'])}")
    return standings


def _order(pair: list[str]) -> list[str]:
    if sorted(pair) != ["hypothesis", "premise"]:
        raise ValueError("name both, premise and hypothesis, in the order that the model reads them")
    return pair


class _Calibration(BaseModel):
    """The odds of doubt -> odds that are as often right as they say, by their logarithms."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    slope: Annotated[float, Field(gt=0)]
    intercept: float

    def doubt(self, doubt: float) -> float:
        held = min(max(doubt, NEAREST), 1 - NEAREST)
        odds = self.slope * log(held / (1 - held)) + self.intercept
        return 1 / (1 + exp(-min(max(odds, -MOST_ODDS), MOST_ODDS)))


class _Settings(BaseModel):
    """verifier.json: the model's name, its labels in the order of its outputs, and how it reads a pair."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: Annotated[str, Field(min_length=1)]
    version: Annotated[str, Field(min_length=1)]
    standings: Annotated[list[str], Field(min_length=1, max_length=3, alias="labels"), AfterValidator(_standings)]
    pair: Annotated[list[str], AfterValidator(_order)] = ["premise", "hypothesis"]
    max_tokens: Annotated[int, Field(ge=32)] = 512
    calibration: _Calibration | None = None

    def chances(self, scores: Sequence[float]) -> Chances:
        """A model's outputs as probabilities: softmax of two or three, of one beside 0, which is its sigmoid."""
        standings = list(self.standings)
        if len(standings) == 1:
            standings.append("not_stated" if standings == ["supported"] else "supported")
            scores = [*scores, 0.0]
        powers = [exp(score - max(scores)) for score in scores]
        found = {standing: power / sum(powers) for standing, power in zip(standings, powers, strict=True)}
        doubt = sum(share for standing, share in found.items() if standing != "supported")
        if self.calibration is not None and doubt > 0:
            calibrated = self.calibration.doubt(doubt)
            found = {standing: share * calibrated / doubt for standing, share in found.items()}
            found["supported"] = 1 - calibrated
        return Chances(*(round(found.get(name, 0.0), DIGITS) for name in Chances._fields))


@dataclass(frozen=True, slots=True)
class _Model:
    """A loaded model with its tokenizer."""

    card: VerifierCard
    path: Path
    settings: _Settings
    session: Any
    tokenizer: Any

    def read(self, pairs: Sequence[SentencePair]) -> list[Chances]:
        return [self.settings.chances(self._scores(pair)) for pair in pairs]

    def _scores(self, pair: SentencePair) -> list[float]:
        import numpy as np

        texts = {"premise": pair.evidence, "hypothesis": pair.sentence}
        # Half a character pair, which a JSON file may hold, is no text that a tokenizer takes.
        read = self.tokenizer.encode(*(texts[name].encode("utf-8", "replace").decode() for name in self.settings.pair))
        values = {"input_ids": read.ids, "attention_mask": read.attention_mask, "token_type_ids": read.type_ids}
        kinds = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
        asked = self.session.get_inputs()
        try:
            given = {each.name: np.asarray([values[each.name]], dtype=kinds[each.type]) for each in asked}
            outputs = {each.name: each for each in self.session.get_outputs()}
            name = "logits" if "logits" in outputs else next(iter(outputs))
            scores = np.asarray(self.session.run([name], given)[0], dtype=np.float64)
        except KeyError as error:
            raise ResourceError(f"{self.path} asks for {error}; known are {', '.join(INPUTS)}, int64: {HOW}") from error
        # The runtime raises kinds of its own, some of them plain exceptions.
        except Exception as error:
            raise ResourceError(f"{self.path} cannot be run ({type(error).__name__}): {HOW}") from error
        expected = (1, len(self.settings.standings))
        if scores.shape != expected and not (expected == (1, 1) and scores.shape == (1,)):
            raise ResourceError(
                f"{self.path} answers in the shape {scores.shape}, and {SETTINGS} names {expected[1]} "
                f"label{'s' * (expected[1] > 1)}: name one for each output, or export a sentence-pair classifier"
            )
        if not np.isfinite(scores).all():
            raise ResourceError(f"{self.path} answers with a number that is not finite: export it in 32 bits")
        return [float(score) for score in scores.ravel()]


def _settings(path: Path) -> _Settings:
    try:
        return _Settings.model_validate_json(path.read_bytes(), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        problem = str(first.get("ctx", {}).get("error", first["msg"]))
        raise ResourceError(f"{path}: {f'{where}: ' if where else ''}{problem}; {HOW}") from None


def _session(path: Path) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise ResourceError(f"a verifier needs onnxruntime, which is not installed: {INSTALL}") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    onnxruntime.disable_telemetry_events()
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ResourceError(f"{path} is not a model that can be loaded ({type(error).__name__}): {HOW}") from error


def _tokenizer(path: Path, *, most: int) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise ResourceError(f"{path} is not a fast tokenizer ({type(error).__name__}): {HOW}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(most)
    # Otherwise a reply that writes [SEP] would part the texts where it likes.
    tokenizer.encode_special_tokens = True
    return tokenizer


def _hash(home: Path) -> str:
    """What determines its word: settings, tokenizer, and the model with the weights that large ones keep beside it."""
    whole = sha256()
    for path in (home / SETTINGS, home / TOKENIZER, *sorted(home.glob(f"{MODEL}*"))):
        with path.open("rb") as file:
            whole.update(file_digest(file, "sha256").digest())
    return whole.hexdigest()[:16]
