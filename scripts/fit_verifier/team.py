"""Processes that fit one network together: each takes its share of a batch, and the gradients are added up.

Threads wait for one another many times a batch, which is slow on a busy machine; processes wait once.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch import multiprocessing as processes

# Longer than any batch takes.
PATIENCE = 600.0


@dataclass(frozen=True, slots=True)
class Team:
    """One member of a team: its number, the number of members, and where they lay down their gradients."""

    number: int = 0
    size: int = 1
    shelf: Tensor | None = None
    barrier: Any = None

    def add_up(self, weights: Sequence[Tensor]) -> None:
        """Give every weight the sum of all members' gradients, in the same order for all."""
        if self.shelf is None:
            return
        flat = torch.cat([(torch.zeros_like(w) if w.grad is None else w.grad).flatten() for w in weights])
        self.shelf[self.number].copy_(flat)
        self.barrier.wait(PATIENCE)
        total = self.shelf.sum(0)
        self.barrier.wait(PATIENCE)
        for weight, part in zip(weights, total.split([weight.numel() for weight in weights]), strict=True):
            weight.grad = part.view_as(weight)


ALONE = Team()


def run_together(work: Any, size: int, gradients: int, *given: Any) -> None:
    """Call `work(team, *given)` in `size` processes of one thread each that share room for so many gradients."""
    context = processes.get_context("spawn")
    shelf = torch.zeros(size, gradients).share_memory_()
    barrier = context.Barrier(size)
    members = [
        context.Process(target=_member, args=(work, Team(number, size, shelf, barrier), *given))
        for number in range(size)
    ]
    for member in members:
        member.start()
    for member in members:
        member.join()
    if any(member.exitcode for member in members):
        raise SystemExit("a process of the fit failed; its message stands above")


def _member(work: Any, team: Team, *given: Any) -> None:
    torch.set_num_threads(1)
    work(team, *given)


@dataclass(slots=True)
class Progress:
    """Says now and then how far a fit is."""

    steps: int
    is_shown: bool
    every: int = 50
    done: int = 0
    pairs: int = 0
    lost: float = 0.0
    started: float = field(default_factory=time.perf_counter)

    def step(self, pairs: int, lost: float) -> None:
        """Count a batch."""
        self.done += 1
        self.pairs += pairs
        self.lost += lost
        if self.is_shown and (self.done % self.every == 0 or self.done == self.steps):
            rate = self.pairs / (time.perf_counter() - self.started)
            loss = self.lost / ((self.done - 1) % self.every + 1)
            sys.stdout.write(f"  step {self.done}/{self.steps}  loss {loss:.3f}  {rate:.1f} pairs/s\n")
            sys.stdout.flush()
            self.lost = 0.0
