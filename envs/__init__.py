"""The environments: decisions over a memory graph. Importing this package registers them with Gymnasium."""

from gymnasium.envs.registration import register, registry

_ENTRY_POINTS = {"HebbGym/Recall-v0": "envs.recall:RecallEnv"}

for _id, _entry_point in _ENTRY_POINTS.items():
    if _id not in registry:
        register(_id, entry_point=_entry_point)
