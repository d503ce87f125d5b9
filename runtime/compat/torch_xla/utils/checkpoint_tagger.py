"""`torch_xla.utils.checkpoint_tagger`: names of checkpoints, and the removal of those without a name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


class CheckpointTagger:
    """Tags, each of which names one path; a path that loses its last tag is passed to a function."""

    def __init__(self, remover: Callable[[str], Any] | None = None) -> None:
        self.tags: dict[str, str] = {}
        self._remover = remover

    def tag(self, name: str, path: str) -> None:
        """Let a tag name a path."""
        old = self.tags.get(name)
        self.tags[name] = path
        if old is not None and old not in self.tags.values() and self._remover is not None:
            self._remover(old)

    def save_to_json(self) -> str:
        """The tags as JSON."""
        return json.dumps(self.tags)

    @classmethod
    def load_from_json(cls, str_json: str, remover: Callable[[str], Any] | None = None) -> CheckpointTagger:
        """The tags of `save_to_json`."""
        made = cls(remover)
        made.tags.update(json.loads(str_json))
        return made
