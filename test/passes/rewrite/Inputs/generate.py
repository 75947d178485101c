"""Random host programs, to be run as they are and rewritten: the same bytes must come out. Arguments: seed, functions.

Each function has host buffers h0.. and device buffers d0.. of N bytes and does random things with them, files, and host
code, in random control flow that the bits of `way` steer. All memory is initialised before it is read."""

import random
import sys

seed, functions = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)
HOST, DEVICE = 3, 3


def size():
    return rng.choice(["N", "N", "N", "N / 2"])


def host():
    return f"h{rng.randrange(HOST)}"


def device():
    return f"d{rng.randrange(DEVICE)}"


def two(kind, count):
    a, b = rng.sample(range(count), 2)
    return f"{kind}{a}", f"{kind}{b}"


def part():
    """Operations on halves, on elements of arrays, on what may be one of two, and new host buffers."""
    h, d = host(), device()
    roll = rng.randrange(9)
    if roll == 0:
        return [f"fread({h} + N / 2, 1, N / 2, in);"]
    if roll == 1:
        return [f"cudaMemcpy({d} + N / 2, {h}, N / 2, H2D);"]
    if roll == 2:
        return [f"cudaMemcpy({d}, {h} + N / 2, N / 2, H2D);"]
    if roll == 3:
        return [f"cudaMemcpy({h} + N / 2, {d}, N / 2, D2H);"]
    if roll == 4:
        return [f"fwrite({h} + N / 4, 1, N / 2, out);"]
    if roll == 5:
        return [f"free({h});", f"{h} = malloc(N);", f"memset({h}, {rng.randrange(256)}, N);"]
    if roll == 6:
        other = host()
        return [f"fread(way & 1 ? {h} : {other}, 1, N, in);"]
    count = rng.choice(["2", "1 + (way & 1)"])
    lines = ["{ char *x[2], *y[2];", f"for (int j = 0; j < {count}; ++j) {{"]
    lines += ["x[j] = way & 2 ? malloc(N) : NULL;", "cudaMalloc((void **)&y[j], N);"]
    lines += ["if (x[j] && fread(x[j], 1, N, in) != N) memset(x[j], j, N);"]
    lines += [f"cudaMemcpy(y[j], x[j] ? x[j] : {h}, N, H2D); }}"]
    lines += [f"LAUNCH(step, y[0], {d});"]
    if roll == 7:
        lines += ["if (x[0]) sum += look(x[0]);"]
    lines += [f"for (int j = 0; j < {count}; ++j) {{"]
    lines += [f"if (x[j]) {{ cudaMemcpy(x[j], {d}, N, D2H); fwrite(x[j], 1, N, out); }}"]
    return lines + ["free(x[j]); cudaFree(y[j]); } }"]


def look_at_part():
    """The host reads a part of a buffer."""
    h = host()
    first = rng.choice(["0", "way", "N / 2"])
    last = rng.choice([f"{first} + 5", "N", "N - way"])
    step = rng.choice(["1", "7", "1 + (way & 3)"])
    return rng.choice([
        [f"for (long p = {first}; p < {last}; p += {step}) sum = sum * 31 + {h}[p];"],
        [f"for (int p = {last}; p-- > {first};) sum = sum * 31 + {h}[p];"],
        [f"for (long p = 0; p < 3; ++p) for (int q = way & 1; q < 5; ++q) sum = sum * 31 + {h}[p * 64 + q];"],
        [f"sum = sum * 31 + {h}[{first}];"],
    ])


def statement(depth):
    roll = rng.randrange(40)
    if roll >= 36:
        return look_at_part()
    if roll >= 30:
        return part()
    if roll < 4:
        return [f"fread({host()}, 1, {size()}, in);"]
    if roll < 6:
        return [f"if (fread({host()}, 1, N, in) != N) printf(\"short\\n\");"]
    if roll < 9:
        return [f"cudaMemcpy({device()}, {host()}, {size()}, H2D);"]
    if roll < 12:
        return [f"cudaMemcpy({host()}, {device()}, {size()}, D2H);"]
    if roll < 14:
        return [f"fwrite({host()}, 1, {size()}, out);"]
    if roll < 16:
        return [f"LAUNCH(scale, {device()});"]
    if roll < 18:
        a, b = two("d", DEVICE)
        return [f"LAUNCH(step, {a}, {b});"]
    if roll < 19:
        return [f"LAUNCH(fill, {device()});"]
    if roll < 20:
        return [f"cudaMemset({device()}, {rng.randrange(256)}, {size()});"]
    if roll < 21:
        return [f"load({device()}, in);"]
    if roll < 22:
        return [f"store({device()}, out);"]
    if roll < 23:
        return [f"sum += look({host()});"]
    if roll < 24:
        return [f"{host()}[{rng.randrange(64)}] += 1;"]
    if roll < 25:
        kind, count = rng.choice([("h", HOST), ("d", DEVICE)])
        a, b = two(kind, count)
        return [f"{{ char *swap = {a}; {a} = {b}; {b} = swap; }}"]
    if roll < 26:
        d = device()
        return [f"cudaFree({d});", f"cudaMalloc((void **)&{d}, N);", f"cudaMemset({d}, 1, N);"]
    if roll < 27:
        a, b = two("d", DEVICE)
        return [f"cudaMemcpy({a}, {b}, {size()}, D2D);"]
    if depth == 0:
        return ["rewind(in);"]
    if roll < 29:
        body = block(depth - 1)
        lines = [f"if (way & {1 << rng.randrange(6)}) {{"] + body + ["}"]
        if rng.random() < 0.5:
            lines += ["else {"] + block(depth - 1) + ["}"]
        return lines
    return [f"for (int i{depth} = 0; i{depth} < 1 + (way & 1); ++i{depth}) {{"] + block(depth - 1) + ["}"]


def block(depth):
    lines = []
    for _ in range(rng.randrange(2, 7)):
        lines += statement(depth)
    return lines


def linkage(f):
    # Some are taken in by main.
    return "static" if f % 8 == 0 else "__attribute__((noinline))"


print('''#include "cuda.h"
#define N 256
KERNEL1(scale, char *)
KERNEL1(fill, char *)
KERNEL2(step, const char *, char *)
void rewind(FILE *);
int fprintf(FILE *, const char *, ...);
void *memset(void *, int, size_t);

void runKernel(const void *stub, void **args) {
  char *a = *(char **)args[0];
  for (int i = 0; i < N; ++i)
    if (stub == (const void *)&__device_stub__scale)
      a[i] = a[i] * 3 + 1;
    else if (stub == (const void *)&__device_stub__fill)
      a[i] = i;
    else
      (*(char **)args[1])[i] = a[i] ^ a[N - 1 - i];
}

static int look(const char *h) {
  int sum = 0;
  for (int i = 0; i < N; ++i)
    sum = sum * 31 + h[i];
  return sum;
}
static void load(char *d, FILE *in) {
  char *staging = malloc(N);
  if (fread(staging, 1, N, in) == N)
    cudaMemcpy(d, staging, N, H2D);
  free(staging);
}
static void store(const char *d, FILE *out) {
  char *staging = malloc(N);
  cudaMemcpy(staging, d, N, D2H);
  fwrite(staging, 1, N, out);
  free(staging);
}
''')
for f in range(functions):
    print(f"{linkage(f)} int run{f}(int way, char **paths) {{\n  int sum = 0;")
    opens = ['FILE *in = fopen(paths[1], "rb");', 'FILE *out = fopen(paths[2], "ab");']
    print("  " + "\n  ".join(opens))
    for i in range(HOST):
        print(f"  char *h{i} = malloc(N); memset(h{i}, {i}, N);" if rng.random() < 0.6 else
              f"  char *h{i} = malloc(N); fread(h{i}, 1, N, in);")
    for i in range(DEVICE):
        print(f"  char *d{i}; cudaMalloc((void **)&d{i}, N);")
        print(f"  cudaMemset(d{i}, {i}, N);" if rng.random() < 0.5 else
              f"  cudaMemcpy(d{i}, h{rng.randrange(HOST)}, N, H2D);")
    # Short ones, in which much is proved, and long ones.
    print("  " + "\n  ".join(block(2) if f % 3 else statement(0) + statement(0) + statement(0)))
    ends = [f"free(h{i});" for i in range(HOST)] + [f"cudaFree(d{i});" for i in range(DEVICE)]
    rng.shuffle(ends)
    print("  " + "\n  ".join(ends))
    print("  fclose(in);\n  fclose(out);\n  return sum;\n}")
print("int main(int argc, char **argv) {\n  for (int way = 0; way < 64; ++way) {")
for f in range(functions):
    print(f"    printf(\"{f} %d %d\\n\", way, run{f}(way, argv));")
print("  }\n  return 0;\n}")
