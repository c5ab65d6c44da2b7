"""Hydra configuration: YAML only. This file lets Hydra find the folder from anywhere."""
