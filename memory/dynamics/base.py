"""The contract of plasticity rules, after optax's: a rule proposes a change and hands it on, the graph applies it.

    Transform = init(graph) -> state;  update(change, state, graph, signal) -> (change, state)

Rules come one after the other in a `NamedChain`; a later rule sees what the earlier ones proposed.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from memory.change import Change
from memory.graph import MemoryGraph

__all__ = ["NamedChain", "Signal", "Stage", "Transform", "as_tree", "from_tree", "named_chain"]


@dataclass(frozen=True, slots=True)
class Signal:
    """What an episode tells the graph.

    Attributes:
        event: What happened: `task` (a reward came) or `pause` (a session ended).
        node_ids: int64 (A,), the notes that were active together, no note twice.
        activation: float32 (A,), how active each was, in [0, 1].
        reward: The task's reward, None where the event has none.
        credit: float32 (A,) or None: what each single note earned, in [-1, 1], where that is known.
    """

    event: str
    node_ids: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    activation: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    reward: float | None = None
    credit: NDArray[np.float32] | None = None


class Stage(IntEnum):
    """Where in a chain a rule may stand: a later stage limits what the earlier ones proposed."""

    LEARN = 0
    BOUND = 1
    PRUNE = 2


class Transform(Protocol):
    """One plasticity rule."""

    stage: ClassVar[Stage]

    def init(self, graph: MemoryGraph) -> Any:
        """The rule's state at the start of a memory's life."""
        ...

    def update(self, change: Change, state: Any, graph: MemoryGraph, signal: Signal) -> tuple[Change, Any]:
        """Extend or limit the proposed change. Neither `graph` nor `state` is modified."""
        ...


@dataclass(frozen=True)
class NamedChain:
    """Rules applied in order, each with its own state under its own name.

    Attributes:
        rules: The rules by name, in order of application.
    """

    rules: dict[str, Transform]
    stage: ClassVar[Stage] = Stage.LEARN

    def __post_init__(self) -> None:
        highest, name_of_highest = Stage.LEARN, ""
        for name, rule in self.rules.items():
            if rule.stage < highest:
                raise ValueError(
                    f"rule {name!r} stands after {name_of_highest!r}, which limits what the rules before it propose; "
                    f"put {name!r} before {name_of_highest!r}"
                )
            highest, name_of_highest = rule.stage, name

    def init(self, graph: MemoryGraph) -> dict[str, Any]:
        """The state of every rule by name."""
        return {name: rule.init(graph) for name, rule in self.rules.items()}

    def update(
        self, change: Change, state: dict[str, Any], graph: MemoryGraph, signal: Signal
    ) -> tuple[Change, dict[str, Any]]:
        """Pass the change through every rule."""
        new_state = {}
        for name, rule in self.rules.items():
            change, new_state[name] = rule.update(change, state[name], graph, signal)
        return change, new_state


def named_chain(**rules: Transform | None) -> NamedChain:
    """Make a chain from keyword arguments in order of application; a rule given as None is left out.

    Raises:
        ValueError: A rule stands after one that limits what came before it.
    """
    return NamedChain({name: rule for name, rule in rules.items() if rule is not None})


def as_tree(state: Any) -> Any:
    """A rule's state with dictionaries in place of named tuples, for `memory.store`."""
    if isinstance(state, tuple) and hasattr(state, "_asdict"):
        state = state._asdict()
    return {name: as_tree(each) for name, each in state.items()} if isinstance(state, dict) else state


def from_tree(template: Any, tree: Any) -> Any:
    """The state that `as_tree` took apart; the rule's initial state says how it was put together.

    Raises:
        ValueError: The tree is of other rules.
    """
    is_named = isinstance(template, tuple) and hasattr(template, "_asdict")
    parts = template._asdict() if is_named else template
    if not isinstance(parts, dict):
        return tree
    if not isinstance(tree, dict) or set(tree) != set(parts):
        found = sorted(tree) if isinstance(tree, dict) else tree
        raise ValueError(f"the saved state is of {found}, the present rules are {sorted(parts)}; configure the same")
    state = {name: from_tree(each, tree[name]) for name, each in parts.items()}
    return type(template)(**state) if is_named else state
