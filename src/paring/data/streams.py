"""Opening files that may be compressed, and naming the file in whatever goes wrong while reading them."""

import bz2
import errno
import gzip
import io
import lzma
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from .dataset import FormatError

COMPRESSED = (".gz", ".bz2", ".xz")

# What the standard readers raise on damaged input, beside OSError.
_DAMAGE: tuple[type[Exception], ...] = (EOFError, ValueError, LookupError, OverflowError, RuntimeError)
_DAMAGE += (struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile)

# xz -9 needs 65 MiB; a header may ask for 4 GiB.
_XZ_MEMORY = 256 << 20
_XZ_PIECE = 1 << 20


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what damaged input raises into a FormatError that names the file; real I/O errors pass."""
    try:
        yield
    except FormatError:
        raise
    except OSError as error:
        # Decompressors raise OSError without a number; a seek to a place the file declares is EINVAL.
        if error.errno not in (None, errno.EINVAL):
            raise
        raise FormatError(f"{path}: {error}") from error
    except _DAMAGE as error:
        raise FormatError(f"{path}: {error or type(error).__name__}") from error


def check_regular(path: Path, *, follow: bool = True) -> int:
    """The size of a regular file; pipes, devices (both may block) and, unless `follow`, links are refused."""
    status = os.stat(path, follow_symlinks=follow)
    if not stat.S_ISREG(status.st_mode):
        what = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "not a regular file"
        raise FormatError(f"{path}: is {what}")
    return status.st_size


@contextmanager
def open_stream(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The stream, decompressed by the name's ending, and the file under it, whose position is progress."""
    check_regular(path)
    with open(path, "rb", buffering=0) as raw:
        file = cast(BinaryIO, raw)
        match path.suffix.lower():
            case ".gz":
                stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw))
            case ".bz2":
                stream = cast(BinaryIO, bz2.BZ2File(raw))
            case ".xz":
                stream = cast(BinaryIO, io.BufferedReader(_Xz(file), _XZ_PIECE))
            case _:
                stream = cast(BinaryIO, io.BufferedReader(raw))
        with stream:
            yield stream, file


class _Xz(io.RawIOBase):
    """lzma.LZMAFile with a memory limit, which that class cannot be given."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._decoder = self._new()
        self._pending = b""

    @staticmethod
    def _new() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        while True:
            if self._decoder.eof and not self._next_stream():
                return 0
            data, self._pending = self._pending, b""
            if self._decoder.needs_input and not data:
                data = self._raw.read(_XZ_PIECE)
                if not data:
                    raise EOFError("the xz stream ends before its end marker")
            text = self._decoder.decompress(data, len(buffer))
            if text:
                buffer[: len(text)] = text
                return len(text)

    def _next_stream(self) -> bool:
        """Begin the next of several concatenated streams, skipping the padding between them."""
        data = self._decoder.unused_data
        while True:
            data = data.lstrip(b"\0")
            if data:
                self._decoder, self._pending = self._new(), data
                return True
            data = self._raw.read(_XZ_PIECE)
            if not data:
                return False
