"""The runs that have names: what ships in checkpoints/, the reference systems, and a tiny one."""

from dataclasses import replace
from typing import Any

from model.config import Config, GruConfig, LanguageModelConfig, TransformerConfig
from model.training.config import RunConfig, TrainingConfig

# What the app and its documentation show must not be remembered from training.
HELD_OUT = (
    "I am happy. Because studying is hard.",
    "I am happy. Because studing is hard.",
    "Because studying is hard.",
    "The animal didn't cross the street because it was too tired.",
    "Where is the train station?",
)
_STABLE = {"schedule": "warmup_stable_decay"}
_CAPTIONS = {"source": "de", "target": "en", "data": "multi30k", "lowercase": True}
_PLAIN = {"label_smoothing": 0.0, "average_last": 1, "as_meant": False}  # as the references train
_WIKITEXT = {"data": "wikitext2", "min_count": 1, "label_smoothing": 0.0, "clip_norm": 0.5}


def _run(model: Config, **training: Any) -> RunConfig:
    return RunConfig(model=model, training=TrainingConfig(**training))


def _like(run: RunConfig, model: dict[str, Any] | None = None, **training: Any) -> RunConfig:
    return RunConfig(model=replace(run.model, **(model or {})), training=replace(run.training, **training))


# For the app: robust to careless typing; large batches, as Muon takes a time per step. A last run, on trained weights:
# without --start-from it wants about four times the steps.
_EN_DE = _run(
    TransformerConfig(vocab_size=8000),
    **_STABLE,
    data="all + 2*tatoeba + 2*multi30k",
    final_data="all + 6*tatoeba + 6*multi30k + 3*tatoeba-testsets-rest",
    steps=4_500,
    batch_tokens=6400,
    optimizer="muon",
    learning_rate=1.5e-3,
    warmup=50,
    decay=3_000,
    bpe_dropout=0.05,
    typo_rate=0.02,
    recase_rate=0.03,
    join_rate=0.1,
    clause_rate=0.1,
    average_every=150,
    validate_every=300,
    validation_pairs=600,
    held_out=HELD_OUT,
)
# A reference: 30 passes of 3,199 batches of 128 pairs, a tenth of WMT16. The size of --tokenizer replaces vocab_size.
_S4 = _run(
    TransformerConfig(
        vocab_size=58_101,
        d_model=512,
        d_ff=2048,
        max_length=64,
        scale_embedding=False,
        tie_embeddings=False,
        output_bias=True,
        embedding_init="xavier",
    ),
    **_PLAIN,
    data="wmt16",
    steps=95_970,
    batch_tokens=128 * 128,
    batch_pairs=128,
    max_length=63,
    warmup=4000,
    average_every=3_199,
    validate_every=3_199,
)
# A reference: 10 passes of 227 batches of 128 pairs.
_S3 = _run(
    GruConfig(source_vocab_size=7855, target_vocab_size=5893, run_over_padding=True, max_length=256),
    **_CAPTIONS,
    **_PLAIN,
    min_count=2,
    steps=2_270,
    batch_tokens=128 * 256,
    batch_pairs=128,
    schedule="constant",
    learning_rate=1e-3,
    warmup=0,
    betas=(0.9, 0.999),
    adam_eps=1e-8,
    teacher_forcing=0.5,
    average_every=227,
    validate_every=227,
)
# The run above, packed, with a falling learning rate at the end and averaged weights.
_GRU = _like(
    _S3,
    {"run_over_padding": False},
    **_STABLE,
    as_meant=True,
    steps=12 * 227,
    decay=4 * 227,
    average_last=5,
    average_every=57,
)

# Ten passes in 80 minutes of two cores, thanks to an adaptive softmax over shared tables.
_WIKITEXT2_LM = _run(
    LanguageModelConfig(
        vocab_size=33_278,
        d_model=256,
        n_heads=4,
        n_layers=3,
        d_ff=1024,
        dropout=0.25,
        norm="pre",
        final_norm=True,
        max_length=128,
        tie_embeddings=True,
        cutoffs=(2_000, 10_000),
        init="normal",
    ),
    **_WIKITEXT,
    **_STABLE,
    steps=5_000,
    columns=32,
    window=128,
    shuffle_windows=True,
    optimizer="muon",
    learning_rate=2e-3,
    adam_share=0.5,
    warmup=200,
    decay=3_500,
    average_every=50,
    validate_every=500,
)
# What became usual after 2017, by name, with about as many parameters as before.
SINCE_2017 = {
    "rotary": {"positional": "rotary_halves"},
    "rms_norm": {"norm_type": "rms", "attention_bias": False, "feed_forward_bias": False},
    "swiglu": {"activation": "swish", "gated": True, "d_ff": 688},
    "grouped": {"n_kv_heads": 2},
}
ALL_SINCE_2017 = {name: value for change in SINCE_2017.values() for name, value in change.items()}

PRESETS = {
    # English to German with all data there are.
    "en-de": _EN_DE,
    # With those whose licences leave free what is done with the weights.
    "en-de-free": _like(_EN_DE, data="cc0 + by + perm + sa", final_data=""),
    # With those that `model download` fetches.
    "en-de-public": _like(_EN_DE, data="tatoeba + multi30k", final_data=""),
    "de-en": _like(_EN_DE, source="de", target="en", final_data="", steps=6_000, learning_rate=1.5e-3, decay=3_500),
    # Minutes, to see the whole path work.
    "tiny": _run(
        TransformerConfig(vocab_size=2000, d_model=64, n_heads=4, n_encoder_layers=2, n_decoder_layers=2, d_ff=128),
        data="multi30k",
        steps=600,
        learning_rate=2.0,
        warmup=200,
        average_every=50,
        validate_every=200,
        validation_pairs=100,
    ),
    # Image captions: about 19 passes in 90 minutes of two cores.
    "multi30k-de-en": _run(
        TransformerConfig(vocab_size=6000, d_ff=512, dropout=0.2, max_length=256),
        **_CAPTIONS,
        **_STABLE,
        steps=7_200,
        batch_tokens=3200,
        learning_rate=1e-3,
        warmup=500,
        decay=3_600,
        bpe_dropout=0.1,
        average_every=100,
        validate_every=500,
    ),
    "s4": _S4,
    "s4-post": _like(_S4, {"norm": "post"}),
    "s3": _S3,
    "multi30k-de-en-gru": _GRU,
    # Bahdanau et al. 2015.
    "multi30k-de-en-gru-attention": _like(_GRU, {"attention": True, "bidirectional": True}),
    # The tutorial's: three passes of 2,984 windows, the learning rate a twentieth less after each.
    "s2": _run(
        LanguageModelConfig(vocab_size=33_278),
        **_WIKITEXT,
        steps=3 * 2_984,
        optimizer="sgd",
        schedule="step_decay",
        learning_rate=5.0,
        warmup=0,
        decay=2_984,
        average_last=1,
        average_every=2_984,
        validate_every=2_984,
    ),
    "wikitext2-lm": _WIKITEXT2_LM,
    # The text and words of the preset above in a model as they are built since; rotary positions let it read twice as
    # much at once.
    "wikitext2-modern": _like(
        _WIKITEXT2_LM,
        {**ALL_SINCE_2017, "dropout": 0.35, "max_length": 256},
        columns=16,
        window=256,
    ),
}
