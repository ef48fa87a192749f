"""What decides most where a query looks: one part of the split of its score, or position on both sides.

The browser names the same cause in the heading of the view Why (viz/web/recording/pictures/why_parts.js).
"""

from dataclasses import dataclass

import numpy as np

from model.analysis.score_parts import ON_BOTH_SIDES, ScoreParts, by_group, less_row_means

HALF = 0.5  # of what decides, from which positions on both sides are the cause


@dataclass(frozen=True)
class Cause:
    """What decides most whether a query attends to a key.

    Attributes:
        side: "key" or "query", where the part stands; "position": positions, or a distance, on both sides; "masked"
            where the query may not attend to the key, "alone" where it may attend to nothing else.
        name: of the part; "" where there is none.
        part: how much of `sum` the part is; of "position" the share of all that decides where the head looks.
        sum: the score above its mean over the keys that the query may attend to.
    """

    side: str
    name: str
    part: float
    sum: float


def cause_of(parts: ScoreParts, query: int, key: int) -> Cause:
    """The cause of one cell; of parts that are equally large that of the key, and the earlier one."""
    mask = parts.mask[query]
    of_keys = less_row_means(parts.keys_of_row(query), mask)[:, key]
    of_queries = less_row_means(parts.queries_of_row(query), mask)[:, key]
    score = float(less_row_means(parts.scores[query], mask)[key])
    if not mask[key]:
        return Cause("masked", "", 0.0, score)
    if mask.sum() == 1:
        return Cause("alone", "", 0.0, score)
    folded = parts.folded(by_group)
    for name in ON_BOTH_SIDES:
        if score > 0 and name in folded.query_names and name in folded.key_names:
            share = folded.shares[folded.query_names.index(name), folded.key_names.index(name)]
            if share >= HALF:
                return Cause("position", name, float(share), score)
    causes = [Cause("key", name, float(part), score) for name, part in zip(parts.key_names, of_keys)]
    causes += [Cause("query", name, float(part), score) for name, part in zip(parts.query_names, of_queries)]
    return max(causes, key=lambda cause: cause.part * (np.sign(score) or 1))
