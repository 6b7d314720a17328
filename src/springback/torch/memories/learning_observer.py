"""The observer that learns its deployment, in torch."""

from typing import NamedTuple

import torch
from springback.heads import earning
from springback.heads.continuity import FORGETTING
from springback.heads.earning import NEAR, RECENT, SMALLEST_LESSON
from springback.heads.memories.learning_observer import LearningObserver, LearningState
from springback.heads.scale import Scale
from springback.torch.memories import observer
from springback.torch.memories.frame import Sensed, without_autocast
from springback.torch.memories.observer import ObserverReading
from torch import Tensor


class LearningReading(NamedTuple):
    """One frame as the current state reads it, before it is remembered.

    Parameters
    ----------
    output : Tensor
        As in `ObserverReading`.
    observed : ObserverReading
        What the observer reads.
    visits, recent, excess, earned, near, calm : Tensor
        Those of the state after this frame, before one leaves the window.
    lesson : Tensor
        How much this frame is to teach, (B, 1).
    novelty : Tensor
        As in `ObserverReading`.
    """

    output: Tensor
    observed: ObserverReading
    visits: Tensor
    recent: Tensor
    excess: Tensor
    earned: Tensor
    near: Tensor
    calm: Tensor
    lesson: Tensor
    novelty: Tensor


class _Means:
    """What the means of the classes say about one frame."""

    def __init__(self, settings: LearningObserver, state: LearningState) -> None:
        self._settings, self._state = settings, state
        self.visits = state.visits * settings.lasting["visits"]
        self.recent = state.recent * RECENT
        self.earned = state.earned * FORGETTING
        self.near = state.near * NEAR
        self.calm = state.calm * settings.lasting["calm"]
        self.excess = state.excess

    def read(
        self, logits: Tensor, unit: Tensor, visible: Tensor, reach: Tensor | float, apart: Tensor | float
    ) -> Tensor:
        """What is added to the logits, in spreads of them, (B, K); bets on it, and on memory."""
        settings, state = self._settings, self._state
        sure = self.visits / (settings.prior_frames + self.visits)
        total = sure.sum(dim=-1, keepdim=True)
        middle = torch.bmm((sure / torch.where(total > 0, total, 1.0)).unsqueeze(1), state.means)
        of_middle = middle.square().sum(dim=-1)
        to_middle = torch.bmm(state.means, middle.transpose(1, 2)).squeeze(-1)
        to_unit = torch.bmm(state.means, unit.unsqueeze(-1)).squeeze(-1)
        along = (middle.squeeze(1) * unit).sum(dim=-1, keepdim=True) - of_middle
        distances = state.means.square().sum(dim=-1) - 2 * to_middle + of_middle
        said = sure * (to_unit - to_middle - along) - sure.square() * distances / 2
        added: Tensor = said * (settings.strength / apart)
        if settings.continuity == 0:
            return added
        shares = state.shares * state.agreement[:, :1].clamp_max(1)
        weight = torch.sigmoid(earning.START_SLOW + earning.RATE_SLOW * self.earned[:, :1])
        learned = (logits / reach + added).argmax(dim=-1, keepdim=True)
        frozen = logits.argmax(dim=-1, keepdim=True)
        mass = self.recent[:, 1].sum(dim=-1, keepdim=True)
        before = self.recent[:, 1] - mass * shares
        allowed = earning.ALLOWED * (1 - shares.gather(1, frozen)) - (learned != frozen).to(added.dtype)
        slow = before.gather(1, learned) - before.gather(1, frozen) + earning.CONTRADICTION * allowed
        told = [self.recent[:, 3] - mass * state.excess, self.recent[:, 3], self.recent[:, 6]]
        gained = torch.cat([slow, *(one.gather(1, frozen) for one in told)], dim=-1)
        self.earned = self.earned + torch.where(visible, gained, 0.0)
        last = self.recent[:, 4]
        near = last.gather(1, frozen) - (last * shares).sum(dim=-1, keepdim=True)
        self.near = self.near + torch.where(visible, near, 0.0)
        weighed: Tensor = added * weight
        return weighed

    @property
    def trust(self) -> Tensor | float:
        """How far memory counts besides the gate, (B, 1)."""
        far = (earning.RATE_FAST * self.earned[:, 1:2]).clamp(-earning.MOST_FAST, earning.MOST_FAST)
        weight: Tensor = torch.sigmoid(earning.START_FAST + far + earning.RATE_NEAR * self.near)
        return 1.0 if self._settings.continuity == 0 else weight

    def note(self, logits: Tensor, posterior: Tensor, without: Tensor, visible: Tensor, frames: Tensor) -> None:
        """The frozen answer to a frame, posteriors with and without memory, and `frames` (B, 1) as the gate counts."""
        if self._settings.continuity == 0:
            return
        nothing = torch.zeros_like(posterior)
        frozen = nothing.scatter(1, logits.argmax(dim=-1, keepdim=True), 1.0)
        differ = nothing.scatter(1, posterior.argmax(dim=-1, keepdim=True), 1.0) - frozen
        told = torch.stack([frozen, differ, differ.abs()], dim=1)
        first = torch.stack([self.recent[:, 0], self.recent[:, 2], self.recent[:, 5]], dim=1) + (1 - RECENT) * told
        second = torch.stack([self.recent[:, 1], self.recent[:, 3], self.recent[:, 6]], dim=1) + (1 - RECENT) * first
        both = torch.stack([first, second], dim=2).flatten(1, 2)
        recent = torch.cat([both[:, :4], (posterior - without).unsqueeze(1), both[:, 4:]], dim=1)
        self.recent = torch.where(visible.unsqueeze(-1), recent, self.recent)
        self.excess = torch.where(visible, self.excess + (differ - self.excess) / frames, self.excess)

    def calmed(self, answer: Tensor, logits: Tensor, visible: Tensor, frames: Tensor) -> Tensor:
        """The logarithm of the answer at the temperature that the record of memory allows; moves the temperature."""
        if self._settings.continuity == 0:
            return answer
        found = torch.log_softmax(answer * self.calm.neg().exp(), dim=-1)
        with torch.no_grad():
            chosen, frozen = answer.argmax(dim=-1, keepdim=True), logits.argmax(dim=-1, keepdim=True)
            plain, given = answer.gather(1, chosen).exp(), found.gather(1, chosen).exp()
            sure = torch.log_softmax(logits, dim=-1).gather(1, frozen).exp()
            record = (2 * self.earned[:, 2:3] / (self.earned[:, 3:] + earning.ENOUGH)).clamp(0, 1)
            wanted = record * plain + (1 - record) * torch.where(chosen == frozen, sure, 1 - sure)
            moved = self.calm + earning.RATE_CALM / (frames + earning.FRAMES_CALM) * (given - wanted)
            self.calm = torch.where(visible, moved.clamp(earning.MOST_SHARP, earning.MOST_CALM), self.calm)
        return found


def read(
    settings: LearningObserver,
    weight: Tensor,  # noqa: ARG001 - the output at rest is enough
    bias: Tensor | None,  # noqa: ARG001
    state: LearningState,
    sensed: Sensed,
    scale: Scale | None,
) -> LearningReading:
    """Read one frame from the faded state; nothing moves. Autograd takes what is remembered for constant."""
    means = _Means(settings, state)
    observed, lesson = observer.observe(settings, state, sensed, scale, means)
    kept = (means.visits, means.recent, means.excess, means.earned, means.near, means.calm)
    return LearningReading(observed.output, observed, *kept, lesson, observed.novelty)


def move(
    settings: LearningObserver, weight: Tensor, bias: Tensor | None, state: LearningState, reading: LearningReading
) -> Tensor:
    """Fade by one frame, let the oldest frame teach what it showed, and remember this one, in place."""
    with torch.no_grad(), without_autocast(state.means):
        here = state.position.unsqueeze(-1)
        finite = reading.observed.finite
        posterior = state.posteriors.gather(1, here.expand(-1, 1, state.posteriors.shape[-1])).squeeze(1)
        key = state.keys.gather(1, here.expand(-1, 1, state.keys.shape[-1]))
        state.lessons.mul_(settings.lasting["lessons"])
        old = state.lessons.gather(1, state.position)
        taught = torch.where(finite, old, 0.0) * (posterior - SMALLEST_LESSON).clamp_min(0)
        state.visits.copy_(reading.visits + taught)
        share = taught / torch.where(state.visits > 0, state.visits, 1.0)
        state.means.add_(share.unsqueeze(-1) * (key - state.means))
        state.lessons.scatter_(1, state.position, torch.where(finite, reading.lesson, old))
        state.recent.copy_(reading.recent)
        state.excess.copy_(reading.excess)
        state.earned.copy_(reading.earned)
        state.near.copy_(reading.near)
        state.calm.copy_(reading.calm)
        return observer.move(settings, weight, bias, state, reading.observed)
