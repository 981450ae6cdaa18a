"""Models of other providers, through pydantic-ai's model classes: the extra `torpor[models]`.

`apis` tells which there are, without importing any of it; `model` plays one. What is asked is translated by `request`
and `media`, what comes back by `stream`, what fails by `errors`. Why this library: docs/decisions/.
"""
