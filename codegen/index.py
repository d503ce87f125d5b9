"""Read the wheel of a torch release from the package index, fetching only the parts that are needed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from typing import Any

from tenax.codegen.release import ReleaseError

_BLOCK = 1 << 20  # bytes; torchgen is contiguous in the wheel, so a few requests fetch it
_SECONDS = 60
_JSON = "application/vnd.pypi.simple.v1+json"  # PEP 691


class Remote(io.RawIOBase):
    """A file at a URL, read by ranges of bytes.

    Raises:
        OSError: the server cannot be reached, or does not support ranges.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.position = 0
        self.size = int(self._get(0, 0)[1].rpartition("/")[2])

    def _get(self, first: int, last: int) -> tuple[bytes, str]:
        request = urllib.request.Request(self.url, headers={"Range": f"bytes={first}-{last}"})
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            if answer.status != 206:
                raise OSError("the server sends whole files only")
            return answer.read(), answer.headers["Content-Range"]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.size}[whence]
        return self.position

    def readinto(self, buffer: Any) -> int:
        last = min(self.position + len(buffer), self.size) - 1
        if last < self.position:
            return 0
        data = self._get(self.position, last)[0]
        buffer[: len(data)] = data
        self.position += len(data)
        return len(data)


@contextlib.contextmanager
def wheel_of(release: str) -> Iterator[zipfile.ZipFile]:
    """The smallest wheel of `torch==<release>` on the index that pip uses; all contain the same torchgen.

    Raises:
        ReleaseError: the index has no such wheel, cannot be reached, or does not support ranges.
    """
    index = _index()
    try:
        url = _url(index, release)
        with io.BufferedReader(Remote(url), _BLOCK) as held, zipfile.ZipFile(held) as wheel:
            wheel.filename = url
            yield wheel
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        remedy = f"expected a wheel: pip download --no-deps torch=={release}"
        raise ReleaseError(f"torch {release}: {index}: {error}; {remedy}") from None


def _index() -> str:
    """The index that pip is configured with, or PyPI."""
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return os.environ.get("PIP_INDEX_URL") or said or "https://pypi.org/simple"


def _url(index: str, release: str) -> str:
    request = urllib.request.Request(f"{index.rstrip('/')}/torch/", headers={"Accept": _JSON})
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
        files = json.load(answer)["files"]
    wheels = [f for f in files if f["filename"].startswith(f"torch-{release}-") and f["filename"].endswith(".whl")]
    if not wheels:
        versions = dict.fromkeys(f["filename"].split("-")[1] for f in files if f["filename"].endswith(".whl"))
        raise ReleaseError(f"torch {release}: not on {index}; expected one of {', '.join([*versions][-6:])}")
    smallest = min(wheels, key=lambda f: f.get("size", 0))
    return urllib.parse.urljoin(f"{index.rstrip('/')}/torch/", smallest["url"])
