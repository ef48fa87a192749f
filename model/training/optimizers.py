"""Adam, plain SGD, or Muon for the matrices of the layers with Adam for the rest."""

from collections import defaultdict

import torch
from torch import Tensor, nn

from model.training.config import TrainingConfig

_MOMENTUM = 0.95


class Muon(torch.optim.Optimizer):
    """Steps along the orthogonalised momentum of each matrix (Jordan et al. 2024), as long as those of AdamW.

    As `torch.optim.Muon` with adjust_lr_fn "match_rms_adamw" (Liu et al. 2025), but matrices of one shape go through
    the iteration together, and in float32 on a processor without instructions for bfloat16, where that takes thirty
    times as long. Weight decay is decoupled (Loshchilov and Hutter 2019).
    """

    def __init__(
        self, parameters: list[nn.Parameter], dtype: torch.dtype = torch.float32, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, {"lr": 0.0, "weight_decay": weight_decay})
        self.dtype = dtype

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]: it takes none
        """Update every matrix that has a gradient; `closure` is not used."""
        for group in self.param_groups:
            shapes: dict[torch.Size, list[nn.Parameter]] = defaultdict(list)
            for matrix in group["params"]:
                if matrix.grad is not None:
                    shapes[matrix.shape].append(matrix)
            for shape, matrices in shapes.items():
                updates = torch.stack([self._look_ahead(matrix) for matrix in matrices])
                rate = group["lr"] * 0.2 * max(shape) ** 0.5
                for matrix, update in zip(matrices, orthogonalised(updates.to(self.dtype))):
                    matrix.mul_(1 - group["lr"] * group["weight_decay"])
                    matrix.add_(update.to(matrix.dtype), alpha=-rate)

    def _look_ahead(self, matrix: nn.Parameter) -> Tensor:
        """Nesterov's momentum of a matrix."""
        assert matrix.grad is not None
        if not (state := self.state[matrix]):
            state["momentum_buffer"] = torch.zeros_like(matrix)
        momentum = state["momentum_buffer"]
        momentum.lerp_(matrix.grad, 1 - _MOMENTUM)
        return matrix.grad.lerp(momentum, _MOMENTUM)


def orthogonalised(x: Tensor) -> Tensor:
    """Bring the singular values of matrices (N, rows, columns) to about 0.5 to 1.5, by Newton-Schulz iterations."""
    if x.size(1) > x.size(2):
        return orthogonalised(x.mT).mT
    a, b, c = 3.4445, -4.7750, 2.0315  # of a quintic
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(5):
        gram = x @ x.mT  # (N, rows, rows)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x


# The state that each optimiser has of a parameter: a prefix for names of tensors, and its keys.
REMEMBERED = {torch.optim.Adam: ("adam", ("step", "exp_avg", "exp_avg_sq")), Muon: ("muon", ("momentum_buffer",))}


def build(model: nn.Module, config: TrainingConfig, fast_bfloat16: bool = False) -> list[torch.optim.Optimizer]:
    """The optimisers of a configuration; a learning rate is set before every step, times `share` of a group.

    fast_bfloat16: the device has instructions for such products. A ValueError for Muon without layers.
    """
    if config.optimizer == "sgd":
        return [torch.optim.SGD(model.parameters(), lr=0.0)]
    matrices = layer_matrices(model) if config.optimizer == "muon" else {}
    if config.optimizer == "muon" and not matrices:
        raise ValueError("optimizer 'muon' is for the matrices of layers, and this model has no layers: use 'adam'")
    others_of_adam = [parameter for name, parameter in model.named_parameters() if name not in matrices]
    share = config.adam_share if matrices else 1.0
    groups = [
        {"params": [p for p in others_of_adam if p.ndim > 1], "weight_decay": config.weight_decay, "share": share},
        {"params": [p for p in others_of_adam if p.ndim <= 1], "weight_decay": 0.0, "share": share},
    ]
    beta1, beta2 = config.betas
    adam = torch.optim.Adam(
        [group for group in groups if group["params"]],
        lr=0.0,
        betas=(beta1, beta2),
        eps=config.adam_eps,
        decoupled_weight_decay=True,
        fused=True,
    )
    if config.optimizer == "adam":
        return [adam]
    dtype = torch.bfloat16 if fast_bfloat16 else torch.float32
    return [Muon(list(matrices.values()), dtype, config.weight_decay), adam]


def layer_matrices(model: nn.Module) -> dict[str, nn.Parameter]:
    """The matrices of a model's layers by name: neither embeddings nor the output projection to logits."""
    return {name: value for name, value in model.named_parameters() if value.ndim == 2 and ".layers." in name}
