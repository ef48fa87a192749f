"""Arrays behind a JSON header, the layout that browsers read without copying.

The length of the header in bytes (uint32, little endian), the header in UTF-8, spaces up to a multiple of eight, then
the arrays, each beginning at a multiple of eight. In the header an array is `{"@": [offset, length, dtype, shape]}`,
where the offset counts from the first array. `viz/web/recording/message/packed.js` reads it.
"""

import numpy as np

_ALIGNED = 8


class Packed:
    """Arrays that are placed one after the other, and the bytes that a header makes with them."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._size = 0

    def place(self, array: np.ndarray) -> dict[str, object]:
        """Put an array behind those that are there; returns what stands for it in the header."""
        data = array.tobytes()
        place = [self._size, len(data), array.dtype.str[1:], array.shape]
        self.parts.append(data + bytes(-len(data) % _ALIGNED))
        self._size += len(self.parts[-1])
        return {"@": place}

    def message(self, header: bytes) -> bytes:
        """The header, in JSON, and the arrays behind it."""
        header += b" " * (-(len(header) + 4) % _ALIGNED)
        return len(header).to_bytes(4, "little") + header + b"".join(self.parts)
