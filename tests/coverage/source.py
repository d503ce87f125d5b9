"""Source: where the public can read the files of this checkout."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LABELS = ("source", "repository", "source code")
REMOTE = re.compile(r"(?:https://|git@|ssh://git@)(?P<host>[\w.-]+\.\w+)[:/](?P<name>[\w./-]+?)(?:\.git)?/?")


def public_tree() -> str:
    """The URL prefix of the files of this commit, such as `https://github.com/owner/name/blob/<commit>/`.

    The repository is the one that the package's metadata name, or else the remote `origin`. The prefix is empty where
    neither is known or the remote has not got this commit, because its links would lead nowhere.
    """
    address = _declared() or _git("remote", "get-url", "origin")
    found = REMOTE.fullmatch(address)
    commit = _git("rev-parse", "HEAD")
    if not found or not commit or not _git("branch", "--remotes", "--contains", commit):
        return ""
    return f"https://{found['host']}/{found['name']}/blob/{commit}/"


def _declared() -> str:
    for entry in importlib.metadata.metadata("tenax").get_all("Project-URL") or ():
        label, _, address = entry.partition(",")
        if label.strip().lower() in LABELS:
            return str(address).strip()
    return ""


def _git(*arguments: str) -> str:
    """What git prints about the checkout, or nothing where it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=30)
    except OSError:
        return ""
    return done.stdout.strip() if not done.returncode else ""
