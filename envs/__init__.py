"""The four environments: decisions over a memory graph, as Gymnasium environments."""
