"""Agents: rules and learners that act through the environments."""
