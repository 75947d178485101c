# bytes.py FILE BYTES SEED: a file of pseudo-random bytes, the same every time. BYTES takes K and M.
import hashlib
import sys

path, count, seed = sys.argv[1:]
units = {"K": 1 << 10, "M": 1 << 20}
total = int(count[:-1]) * units[count[-1]] if count[-1] in units else int(count)
piece = 1 << 22
with open(path, "wb") as file:
    for number in range(0, (total + piece - 1) // piece):
        size = min(piece, total - number * piece)
        file.write(hashlib.shake_128(f"{seed}/{number}".encode()).digest(size))
