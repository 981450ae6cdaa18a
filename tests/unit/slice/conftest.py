"""Both stores, for races: the fixtures of the contract tests, under their names."""

from tests.contract.conftest import aws_endpoint, stores

__all__ = ["aws_endpoint", "stores"]
