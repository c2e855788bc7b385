"""NumPy's .npy and .npz, read without trusting their headers, and written piece by piece.

A header is believed only when the bytes are there: the size it declares is compared with the file's before
anything is allocated. Arrays of Python objects are never loaded.
"""

import io
import math
import os
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .dataset import FormatError
from .streams import check_regular, reading

_MAGIC = b"\x93NUMPY"
_MAX_HEADER = 10_000  # NumPy's own limit for headers it does not trust
_WRITTEN_HEADER = 128  # ours; a multiple of 64 so that the data are aligned
_DEFLATE_RATIO = 1032  # deflate cannot compress further than this
_PIECE = 1 << 24  # bytes moved at a time


@dataclass(frozen=True)
class Header:
    """What an .npy header declares, and where the data begin."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    offset: int

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize  # Python integers: no overflow


def read_header(stream: BinaryIO, name: object, size: int) -> Header:
    """Read and check the header of an array of `size` bytes, header included."""
    start = stream.read(8)
    if len(start) < 8 or start[:6] != _MAGIC:
        raise FormatError(f"{name}: not an .npy array (it begins with {start[:6]!r})")
    if start[6] not in (1, 2, 3):
        raise FormatError(f"{name}: .npy version {start[6]} is unknown")
    width = 2 if start[6] == 1 else 4
    prefix = stream.read(width)
    length = int.from_bytes(prefix, "little")
    if len(prefix) < width or length > _MAX_HEADER:
        raise FormatError(f"{name}: the .npy header of {length} bytes is cut off or too long")
    text = io.BytesIO(prefix + stream.read(length))
    parse = np.lib.format.read_array_header_1_0 if start[6] == 1 else np.lib.format.read_array_header_2_0
    try:
        shape, fortran, dtype = parse(text)
    except Exception as error:  # literal_eval of anything raises anything
        raise FormatError(f"{name}: the .npy header is damaged") from error
    header = Header(dtype, shape, fortran, 8 + width + length)
    _check_header(header, name, size)
    return header


def _check_header(header: Header, name: object, size: int) -> None:
    if header.dtype.hasobject:
        raise FormatError(f"{name}: holds Python objects, which are never loaded; save it as numbers or text")
    if header.dtype.kind not in "biufUS" or header.dtype.itemsize == 0 or header.dtype.char == "g":
        raise FormatError(f"{name}: the type {header.dtype} is neither numbers of at most 8 bytes nor text")
    if any(isinstance(length, bool) or not 0 <= length < 2**62 for length in header.shape):
        raise FormatError(f"{name}: impossible shape {header.shape}")
    if header.offset + header.nbytes != size:
        raise FormatError(
            f"{name}: the header declares {header.nbytes} bytes of data "
            f"(shape {header.shape}, {header.dtype}), but {size - header.offset} are there"
        )


# -- reading ---------------------------------------------------------------------------------------


def read_npy(path: Path, *, follow: bool = True) -> NDArray[Any]:
    """Read one array into memory. Cost: one pass over the file."""
    size = check_regular(path, follow=follow)
    with open(path, "rb") as stream:
        return _read_data(stream, read_header(stream, path, size), path)


def map_npy(path: Path, *, follow: bool = True) -> np.memmap[Any, Any]:
    """Map one array read-only, without reading it."""
    size = check_regular(path, follow=follow)
    with open(path, "rb") as stream:
        header = read_header(stream, path, size)
    order: Literal["C", "F"] = "F" if header.fortran else "C"
    return np.memmap(path, header.dtype, "r", header.offset, header.shape, order)


def _read_data(stream: BinaryIO, header: Header, name: object) -> NDArray[Any]:
    flat = np.empty(math.prod(header.shape), header.dtype)
    view = flat.view(np.uint8).data if flat.size else memoryview(b"")
    done = 0
    while done < len(view):
        count = stream.readinto(view[done : done + _PIECE])  # type: ignore[attr-defined]
        if not count:
            raise FormatError(f"{name}: ends after {done} of {len(view)} bytes of data")
        done += count
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


class Npz:
    """The arrays of an .npz file by name, each read when asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = check_regular(path)
        with reading(path):
            self._zip = zipfile.ZipFile(path)
            self.names = [name.removesuffix(".npy") for name in self._zip.namelist() if name.endswith(".npy")]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()

    def __getitem__(self, name: str) -> NDArray[Any]:
        where = f"{self._path}: {name}"
        if name not in self.names:
            raise FormatError(f"{self._path}: has no array {name!r}; it holds {', '.join(self.names) or 'none'}")
        with reading(self._path):
            info = self._zip.getinfo(f"{name}.npy")
            # The declared size is bounded by what the bytes on disk could decompress to.
            if info.compress_size > self._size or info.file_size > (info.compress_size + 64) * _DEFLATE_RATIO:
                raise FormatError(f"{where}: declares {info.file_size} bytes, more than the file can hold")
            with self._zip.open(info) as stream:
                array = _read_data(stream, read_header(stream, where, info.file_size), where)  # type: ignore[arg-type]
                if stream.read(1):  # reads the end of the member, where zipfile compares the checksum
                    raise FormatError(f"{where}: is longer than its header declares")
                return array


# -- writing ---------------------------------------------------------------------------------------


class NpyWriter:
    """An .npy file that grows by blocks; its header is settled by `close`."""

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self.path = path
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._stream = open(path, "wb")  # noqa: SIM115 - open across calls, closed by close() or __exit__
        self._stream.write(bytes(_WRITTEN_HEADER))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    def append(self, block: NDArray[Any]) -> None:
        """Add the elements of `block`, in C order, converted to the file's type."""
        flat = np.ascontiguousarray(block, dtype=self.dtype).reshape(-1)
        if flat.size:
            self._stream.write(flat.view(np.uint8).data)
        self.size += flat.size

    def close(self, shape: tuple[int, ...] | None = None, *, fortran: bool = False) -> None:
        """Write the header: one line of all elements, or `shape`."""
        shape = (self.size,) if shape is None else shape
        if math.prod(shape) != self.size:
            raise ValueError(f"{self.path}: shape {shape} for {self.size} elements")
        self._stream.seek(0)
        self._stream.write(_header_bytes(self.dtype, shape, fortran))
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()


def _header_bytes(dtype: np.dtype[Any], shape: tuple[int, ...], fortran: bool) -> bytes:
    declared = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": fortran, "shape": shape}
    text = repr(declared).encode("ascii")
    room = _WRITTEN_HEADER - len(_MAGIC) - 4
    if len(text) >= room:
        raise ValueError(f"no room for the header {text!r}")
    return _MAGIC + bytes((1, 0)) + struct.pack("<H", room) + text.ljust(room - 1) + b"\n"


def write_lines(
    X: NDArray[Any], writer: NpyWriter, order: str, progress: Callable[[int, int], object] | None = None
) -> None:
    """Write a matrix, mapped or in memory, in blocks of rows (order "C") or of columns ("F"), and close."""
    lines = X if order == "C" else X.T
    step = max(1, _PIECE // max(1, lines.shape[1] * writer.dtype.itemsize))
    for start in range(0, lines.shape[0], step):
        writer.append(lines[start : start + step])
        if progress is not None:
            progress(lines[: start + step].nbytes, lines.nbytes)
    writer.close((X.shape[0], X.shape[1]), fortran=order == "F")


def append_all(array: NDArray[Any], writer: NpyWriter, shift: int = 0) -> None:
    """Append `array - shift`, an array of one dimension, mapped or in memory, block by block."""
    step = _PIECE // writer.dtype.itemsize
    for start in range(0, array.size, step):
        block = array[start : start + step]
        writer.append(block - shift if shift else block)


def rewrite(source: Path, destination: Path, dtype: DTypeLike, shift: int = 0) -> None:
    """Move a one-dimensional array file to `destination`, as `array - shift` in the given type."""
    old = map_npy(source)
    unchanged = old.dtype == dtype and shift == 0
    if not unchanged:
        with NpyWriter(destination, dtype) as writer:
            append_all(old, writer, shift)
            writer.close()
    del old  # Windows neither moves nor removes a mapped file
    if unchanged:
        os.replace(source, destination)
    else:
        os.unlink(source)
