"""Sentences of one language become pairs to train the other direction with: a later model learns to write what people
wrote, and reads this one's translation (Sennrich et al. 2016, "Improving Neural Machine Translation Models with
Monolingual Data").
"""

import gzip
import json
from pathlib import Path

from tqdm import tqdm

from model import checkpoint
from model.training.data.corpora import read_lines
from model.translator import Translator, tidy

CHUNK = 256  # sentences after which what there is can be gone on from
MAX_TOKENS = 100  # of a sentence; longer ones are left out, as training leaves them out


def backtranslate(
    translator: Translator, data: Path, out: Path, resume: bool, beam: int, length_penalty: float
) -> tuple[int, int]:
    """Translate one sentence per line, and write pairs of English, a tab, German to NAME.tsv.gz.

    OUT.begun has a line that says what is translated with what, pairs, and after each chunk the number of sentences
    read. Returns the numbers of pairs, and of sentences left out: empty, too long, or with an empty translation. A
    ValueError says what does not fit together, or cannot be read or resumed.
    """
    languages = (translator.card.get("source"), translator.card.get("target"))
    if languages not in (("en", "de"), ("de", "en")):
        raise ValueError(f"the card of {translator.name!r} does not say that it translates between en and de")
    if not out.name.endswith(".tsv.gz"):
        raise ValueError(f"the corpus is a file NAME.tsv.gz, got {out}")
    if out.exists():
        raise ValueError(f"{out} is there already: move it away, or choose another --out")
    about = {
        "weights": checkpoint.sha256_of(translator.folder / checkpoint.WEIGHTS),
        "data": checkpoint.sha256_of(data),
        "beam": beam,
        "length_penalty": length_penalty,
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    begun = out.with_name(out.name + ".begun")
    done = _begin(begun, about, resume)
    lines = [tidy(line) for line in read_lines(data)]
    limit = min(MAX_TOKENS, translator.config.max_length)
    with begun.open("a", encoding="utf-8", newline="\n") as file, tqdm(total=len(lines), initial=done) as bar:
        for start in range(done, len(lines), CHUNK):
            chunk = lines[start : start + CHUNK]
            short = [text for text in chunk if text and len(translator.tokenizer.source.encode(text)) < limit]
            translations = translator.translate_lines(short, beam, length_penalty)
            pairs = [pair for pair in zip(short, translations) if all(pair)]
            file.writelines("\t".join(pair if languages[0] == "en" else pair[::-1]) + "\n" for pair in pairs)
            file.write(f"{start + len(chunk)}\n")
            file.flush()
            bar.update(len(chunk))
    pairs = [line for line in read_lines(begun) if "\t" in line]
    written = gzip.compress("".join(pair + "\n" for pair in pairs).encode())
    with checkpoint.replacing(out) as whole:
        whole.write_bytes(written)
    begun.unlink()
    return len(pairs), len(lines) - len(pairs)


def _begin(begun: Path, about: dict[str, object], resume: bool) -> int:
    """Make OUT.begun, or cut it after its last whole chunk; returns how many sentences are done."""
    if resume and not begun.exists():
        raise ValueError(f"there is nothing to resume: no {begun}")
    lines = checkpoint.read_text(begun, limit=1_000_000_000).split("\n")[:-1] if begun.exists() else []
    ends = [number for number, line in enumerate(lines) if line.isdecimal()]
    if not resume and ends:
        raise ValueError(f"{begun} holds a translation that was interrupted: pass --resume, or delete it")
    header = json.dumps(about)
    if resume and lines[:1] != [header]:
        raise ValueError(f"{begun} was begun with another checkpoint, other data or another search: delete it")
    kept = lines[: ends[-1] + 1] if ends else [header]
    checkpoint.write_text(begun, "".join(line + "\n" for line in kept))
    return int(lines[ends[-1]]) if ends else 0
