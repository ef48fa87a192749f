"""What `read --patch` does: heads of one text as they were in another (`--from`), and how much comes back with them."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from model.interventions.edits import Edits
from model.interventions.patches import WHAT, HeadPatch


def check(args: Namespace) -> None:
    """Refuse options that need another one, or do not go with it."""
    if not args.patch and args.source is None:
        for name in ("what", "answer", "than"):
            if getattr(args, name) is not None:
                raise ValueError(f"--{name} needs --patch: the heads that are taken from another text")
        return
    if not args.patch or args.source is None:
        raise ValueError("--patch needs --from, and --from needs --patch: the other text, and the heads taken from it")
    if args.chat:
        raise ValueError("--patch and --chat do not go together: give both texts as they are read")
    if args.off:
        raise ValueError("--patch and --off do not go together: the other text is read with all heads")
    if args.target is not None:
        raise ValueError("--patch and --target do not go together: both texts are compared by what the model writes")


def patched(args: Namespace, reader: Any, given: Mapping[str, Any], result: Any, heads: Edits) -> tuple[Any, list[str]]:
    """The text read with the heads patched, and lines that say how much of the difference comes back with each.

    Args:
        given: what the text was read with, which `--from` takes the place of.
        heads: those of `--patch`, as `off`.

    Raises:
        ValueError: if the texts cannot be compared.
    """
    other = reader.read(**{**given, "text": args.source})
    answer, against = (None if word is None else reader.spaced_token(word) for word in (args.answer, args.than))
    patching = reader.patching(other, result, answer=answer, against=against)
    patches = [HeadPatch(head.kind, head.layer, head.head, args.what or WHAT[0]) for head in heads.off]
    edits = patching.edits(*patches)
    changed = reader.read(**given, edits=edits)
    return changed, list(_lines(patching, patches))


def _lines(patching: Any, patches: list[HeadPatch]) -> Iterator[str]:
    answer, against = patching.words
    yield f"logit of {answer} less that of {against}:"
    yield f"{patching.clean:8.3f}  in the other text"
    yield f"{patching.corrupted:8.3f}  here"
    for patch in patches:
        share = patching.together(patch)
        yield f"{share:8.1%}  of the difference comes back with {patch.kind} {patch.layer}-{patch.head} ({patch.what})"
    if len(patches) > 1:
        yield f"{patching.together(*patches):8.1%}  with all of them together"
    side = "decoder" if "decoder" in patching.sides else "encoder"
    if alone := patching.unaligned("encoder" if patching.tokens("encoder") else side):
        yield f"left alone, as the other text has no token in their place: {', '.join(map(str, alone))}"
