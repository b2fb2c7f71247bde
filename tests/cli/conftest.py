"""Fixtures for the command line's tests."""

from tests.cli.running import lamina

__all__ = ["lamina"]
