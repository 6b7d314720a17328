"""Priors, biases and posteriors of the units, in torch: the same sums as in `springback.elastic`."""

import torch
from springback.elastic._sphere import bias_table
from springback.elastic.plasticity import BiasRule
from springback.heads.memories.centroids import CentroidSprings
from springback.heads.memories.springs import LayerSprings
from torch import Tensor


def prior_of(weight: Tensor, bias: Tensor | None, dtype: torch.dtype) -> Tensor:
    """P_k = softmax(b), (K,): a bias is ln P up to a constant (Eq. S18); uniform without biases.

    Examples
    --------
    >>> prior_of(torch.eye(2), torch.tensor([0.75, 0.25]).log(), torch.float32)
    tensor([0.7500, 0.2500])
    """
    if bias is None:
        return torch.full((len(weight),), 1 / len(weight), dtype=dtype, device=weight.device)
    return torch.softmax(bias.detach().to(dtype), dim=0)


def circle_bias(prior: Tensor) -> Tensor:
    """The bias of the linear model that gives each class its prior on the circle: Eq. S39 solved for G0.

    With G0 = -cos(phi) it is P = sin(phi) - phi cos(phi). This is Newton's method in phi, with a fixed number of steps.

    Examples
    --------
    >>> circle_bias(torch.tensor([0.0, 0.5, 1.0])).abs()
    tensor([1.0000, 0.3600, 0.0000])
    """
    inside = prior.clamp(1e-12, 1)
    phi = (3 * inside).pow(1 / 3).clamp(max=1.5)
    for _ in range(8):
        phi = phi - (phi.sin() - phi * phi.cos() - inside) / (phi * phi.sin())
    return -phi.cos().masked_fill(prior <= 0, 1.0).masked_fill(prior >= 1, 0.0)


def sphere_bias(prior: Tensor, n_features: int) -> Tensor:
    """The bias of the linear model that gives each class its prior on the sphere; see `springback.elastic._sphere`.

    Examples
    --------
    >>> sphere_bias(torch.tensor([1 / 400]), 784)
    tensor([-0.0969])
    """
    table = torch.tensor(bias_table(n_features), dtype=torch.float64, device=prior.device)
    at = prior.double().log().clamp(float(table[0, 0]), 0.0)
    place = torch.searchsorted(table[0], at).clamp(1, table.shape[1] - 1)
    (x0, y0, d0), (x1, y1, d1) = table[:, place - 1], table[:, place]
    s = (at - x0) / (x1 - x0)
    r = 1 - s
    found: Tensor = (1 + 2 * s) * r * r * y0 + (1 + 2 * r) * s * s * y1 + (x1 - x0) * s * r * (r * d0 - s * d1)
    return found.masked_fill(prior <= 0, -1.0).to(prior.dtype)


def linear_bias(prior: Tensor, rule: BiasRule, n_features: int) -> Tensor:
    """G0 of the linear model: on the sphere, on the circle, the paper's line `P - 1` (Eqs. S40 and S66), or zero.

    Examples
    --------
    >>> linear_bias(torch.tensor([0.25, 1.0]), "line", n_features=2)
    tensor([-0.7500,  0.0000])
    """
    if rule == "sphere":
        return sphere_bias(prior, n_features)
    if rule == "circle":
        return circle_bias(prior)
    return prior - 1 if rule == "line" else torch.zeros_like(prior)


def infer(
    springs: LayerSprings | CentroidSprings, activation: Tensor, prior: Tensor | None = None, seen: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    """Posterior Q (streams, K) of the activations, and in which streams any unit answers, (streams, 1); None: in all.

    Q is the soft-max (Eq. S26), the ratio of the positive parts (Eq. S77), or 1 for the largest activation. Where
    activations are NaN, the posterior is zero.

    Parameters
    ----------
    prior : Tensor | None
        What is returned where nothing answers: no input was `seen`, or no activation is positive if Q is a ratio.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> infer(Springs(inference="ratio"), torch.tensor([[3.0, 1.0, -5.0], [-1.0, -2.0, -3.0]]), torch.full((3,), 1 / 3))
    (tensor([[0.7500, 0.2500, 0.0000],
            [0.3333, 0.3333, 0.3333]]), tensor([[ True],
            [False]]))
    """
    rule, answers = springs.posterior_rule, seen
    if springs.likelihood == "linear" or (springs.likelihood == "layer" and rule == "ratio"):
        positive = activation.amax(dim=-1, keepdim=True) > 0
        answers = positive if seen is None else positive & seen
    if rule == "maximum":
        posterior = torch.nn.functional.one_hot(activation.argmax(dim=-1), activation.shape[-1]).to(activation.dtype)
        posterior = torch.where(activation.isnan().any(dim=-1, keepdim=True), 0.0, posterior)
    elif rule == "softmax" or springs.likelihood == "exponential":
        sharp = 1.0 if springs.likelihood == "exponential" else springs.kappa
        posterior = torch.softmax(activation if sharp == 1 else activation * sharp, dim=-1)
    else:
        joint = activation.clamp_min(0)
        posterior = joint / joint.sum(dim=-1, keepdim=True)
    posterior = posterior.nan_to_num(nan=0.0)
    if answers is not None and prior is not None:
        posterior = torch.where(answers, posterior, prior)
    return posterior, answers
