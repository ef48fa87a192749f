"""The runs that have names: what ships in checkpoints/, the reference systems, and a tiny one."""

from __future__ import annotations

from dataclasses import replace

from model.config import GruConfig, LanguageModelConfig, TransformerConfig
from model.training.config import RunConfig, TrainingConfig

# What the app and its documentation show must not be remembered from training.
HELD_OUT = (
    "I am happy. Because studying is hard.",
    "I am happy. Because studing is hard.",
    "Because studying is hard.",
    "The animal didn't cross the street because it was too tired.",
    "Where is the train station?",
)

# An encoder-decoder of three and three layers on a tenth of WMT16, in batches of 128 pairs of at most 64 tokens. Its 30
# passes are of 3,199 batches. Which tokenizer cuts the text is up to `--tokenizer`; its size replaces vocab_size.
_S4 = RunConfig(
    model=TransformerConfig(
        vocab_size=58_101,
        d_model=512,
        n_heads=8,
        n_encoder_layers=3,
        n_decoder_layers=3,
        d_ff=2048,
        dropout=0.1,
        norm="pre",
        max_length=64,
        scale_embedding=False,
        tie_embeddings=False,
        output_bias=True,
        embedding_init="xavier",
    ),
    training=TrainingConfig(
        data="wmt16",
        steps=95_970,
        batch_tokens=128 * 128,
        batch_pairs=128,
        max_length=63,
        schedule="noam",
        warmup=4000,
        label_smoothing=0.0,
        clip_norm=1.0,
        average_last=1,
        average_every=3_199,
        validate_every=3_199,
    ),
)

# The recurrent encoder-decoder of the reference: 10 passes of 227 batches of 128 pairs.
_S3 = RunConfig(
    model=GruConfig(source_vocab_size=7855, target_vocab_size=5893, run_over_padding=True, max_length=256),
    training=TrainingConfig(
        source="de",
        target="en",
        data="multi30k",
        lowercase=True,
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
        label_smoothing=0.0,
        clip_norm=1.0,
        average_last=1,
        average_every=227,
        validate_every=227,
    ),
)
# The same, packed, with a falling learning rate at the end and averaged weights.
_GRU = replace(
    _S3,
    model=replace(_S3.model, run_over_padding=False),
    training=replace(
        _S3.training,
        steps=12 * 227,
        schedule="warmup_stable_decay",
        decay=4 * 227,
        average_last=5,
        average_every=57,
    ),
)

# For the app: small enough for two cores, with noise that makes it robust to careless typing. Batches are large because
# Muon takes a fixed time per step.
_EN_DE = RunConfig(
    model=TransformerConfig(vocab_size=8000),
    training=TrainingConfig(
        data="all + 2*multi30k",
        steps=12_000,
        batch_tokens=6400,
        schedule="warmup_stable_decay",
        optimizer="muon",
        learning_rate=2e-3,
        warmup=100,
        decay=4_000,
        bpe_dropout=0.05,
        typo_rate=0.01,
        recase_rate=0.03,
        join_rate=0.1,
        clause_rate=0.1,
        average_every=150,
        validate_every=300,
        validation_pairs=600,
        held_out=HELD_OUT,
    ),
)

PRESETS = {
    # English to German with all data there are.
    "en-de": _EN_DE,
    # With those whose licences leave free what is done with the weights.
    "en-de-free": replace(_EN_DE, training=replace(_EN_DE.training, data="cc0 + by + perm + sa")),
    # With those that `model download` fetches.
    "en-de-public": replace(_EN_DE, training=replace(_EN_DE.training, data="tatoeba + multi30k")),
    "de-en": replace(_EN_DE, training=replace(_EN_DE.training, source="de", target="en")),
    # A few minutes on a laptop, to see the whole path work.
    "tiny": RunConfig(
        model=TransformerConfig(
            vocab_size=2000, d_model=64, n_heads=4, n_encoder_layers=2, n_decoder_layers=2, d_ff=128
        ),
        training=TrainingConfig(
            data="multi30k",
            steps=600,
            batch_tokens=4096,
            learning_rate=2.0,
            warmup=200,
            average_every=50,
            validate_every=200,
            validation_pairs=100,
        ),
    ),
    # German to English on image captions, all in lower case: about 19 passes in 90 minutes of two cores.
    "multi30k-de-en": RunConfig(
        model=TransformerConfig(vocab_size=6000, d_ff=512, dropout=0.2, max_length=256),
        training=TrainingConfig(
            source="de",
            target="en",
            data="multi30k",
            lowercase=True,
            steps=7_200,
            batch_tokens=3200,
            schedule="warmup_stable_decay",
            learning_rate=1e-3,
            warmup=500,
            decay=3_600,
            bpe_dropout=0.1,
            average_every=100,
            validate_every=500,
        ),
    ),
    "s4": _S4,
    "s4-post": replace(_S4, model=replace(_S4.model, norm="post")),
    "s3": _S3,
    "multi30k-de-en-gru": _GRU,
    # Bahdanau et al. 2015: the encoder reads from both ends, and every step of the decoder reads all of its states.
    "multi30k-de-en-gru-attention": replace(_GRU, model=replace(_GRU.model, attention=True, bidirectional=True)),
    # The tutorial's language model: three passes of 2,984 windows, its learning rate a twentieth less after each.
    "s2": RunConfig(
        model=LanguageModelConfig(vocab_size=33_278),
        training=TrainingConfig(
            data="wikitext2",
            min_count=1,
            steps=3 * 2_984,
            columns=20,
            window=35,
            optimizer="sgd",
            schedule="step_decay",
            learning_rate=5.0,
            warmup=0,
            decay=2_984,
            label_smoothing=0.0,
            clip_norm=0.5,
            average_last=1,
            average_every=2_984,
            validate_every=2_984,
        ),
    ),
    # About eight passes in 90 minutes of two cores, which an adaptive softmax over shared tables makes possible.
    "wikitext2-lm": RunConfig(
        model=LanguageModelConfig(
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
        training=TrainingConfig(
            data="wikitext2",
            min_count=1,
            steps=8_000,
            columns=16,
            window=128,
            shuffle_windows=True,
            schedule="warmup_stable_decay",
            learning_rate=1e-3,
            warmup=500,
            decay=4_000,
            label_smoothing=0.0,
            clip_norm=0.5,
            average_every=100,
            validate_every=1_000,
        ),
    ),
}
