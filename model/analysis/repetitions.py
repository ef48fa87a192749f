"""How much heads attend to earlier occurrences of a token (duplicate-token heads), and to what followed (induction).

Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Olsson et al. 2022, "In-context Learning and
Induction Heads"; Wang et al. 2022, "Interpretability in the Wild", for duplicate-token heads.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis import rules


@dataclass(frozen=True)
class Repetitions:
    """Sums over the rows whose token occurred before, which can be added up over texts."""

    rows: int
    duplicate: np.ndarray  # (L, H), of the weight on the earlier occurrences
    induction: np.ndarray  # (L, H), of the weight on the tokens right after them

    def __add__(self, other: "Repetitions") -> "Repetitions":
        return Repetitions(self.rows + other.rows, self.duplicate + other.duplicate, self.induction + other.induction)

    def means(self) -> dict[str, np.ndarray]:
        """The mean over rows of each, (L, H); 0 where no token occurred twice."""
        count = max(self.rows, 1)
        return {"duplicate": self.duplicate / count, "induction": self.induction / count}


def repetitions(weights: np.ndarray, ids: Sequence[int]) -> Repetitions:
    """Measure self-attention weights (L, H, T, T) of a decoder that read these T ids.

    Example:
        >>> weights = np.zeros((1, 1, 4, 4))
        >>> weights[0, 0, 2] = [0.1, 0.7, 0.2, 0.0]  # token 2 is token 0 again, which token 1 followed
        >>> means = repetitions(weights, [5, 6, 5, 7]).means()
        >>> means["duplicate"].item(), means["induction"].item()
        (0.1, 0.7)
    """
    cells = rules.Cells.of_decoder(ids)
    earlier = (rules.duplicate_token(cells) & cells.mask)[0]  # (T, T): the key holds the query's token
    following = (rules.induction(cells) & cells.mask)[0]
    rows = earlier.any(axis=1)

    def mass_on(cells: np.ndarray) -> np.ndarray:
        """The weight (L, H) on cells, bool (T, T), of the rows whose token occurred before."""
        return (weights[:, :, rows] * cells[rows]).sum(axis=(2, 3), dtype=np.float64)

    return Repetitions(int(rows.sum()), duplicate=mass_on(earlier), induction=mass_on(following))
