"""Experiments: Hydra entry points, tracking, scores, reports."""
