// Device pointers leave the program as text, bytes, halves, digits and floating-point numbers, through the environment, files and
// pipes, and come back: what they point to is still there, though no pointer that the compiler can follow says so.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir && %build %s -o program && %plain ./program && %tight ./program
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <unistd.h>

constexpr int N = 1 << 18;

__global__ void fill(int *p, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = i * 3 + k;
}

static bool holds(const int *found, int k) {
  for (int i = 0; i < N; ++i)
    if (found[i] != i * 3 + k)
      return false;
  return true;
}

static int failures = 0;
static char text[64];

/// In a function of its own, which others could call: a buffer is filled, its address leaves by OUT, and e gets it by IN.
#define CASE(NAME, OUT, IN)                                                    \
  __attribute__((noinline)) void NAME(int k) {                                 \
    int *d, *e = nullptr;                                                      \
    CHECK(cudaMalloc(&d, N * sizeof(int)));                                    \
    fill<<<N / 256, 256>>>(d, k);                                              \
    OUT;                                                                       \
    d = nullptr;                                                               \
    IN;                                                                        \
    std::vector<int> found(N);                                                 \
    CHECK(                                                                     \
        cudaMemcpy(found.data(), e, N * sizeof(int), cudaMemcpyDeviceToHost)); \
    if (!holds(found.data(), k))                                               \
      ++failures, printf(#NAME ": lost\n");                                    \
    CHECK(cudaFree(e));                                                        \
  }

CASE(environment,
     (snprintf(text, 64, "%p", (void *)d), setenv("POINTER", text, 1)),
     e = (int *)strtoull(getenv("POINTER"), nullptr, 16))
CASE(scanned, char words[64]; sprintf(words, "%p", (void *)d), void *back;
     sscanf(words, "%p", &back); e = (int *)back)
CASE(file, FILE *out = fopen("address", "w"); fwrite(&d, sizeof d, 1, out);
     fclose(out), FILE *in = fopen("address", "r");
     CHECK(fread(&e, sizeof e, 1, in) == 1 ? cudaSuccess : cudaErrorUnknown);
     fclose(in))
CASE(printed, FILE *out = fopen("address", "w");
     fprintf(out, "%lu\n", (unsigned long)d); fclose(out), char line[64];
     FILE *in = fopen("address", "r"); fgets(line, 64, in); fclose(in);
     e = (int *)atol(line))
CASE(pipeline, int ends[2]; CHECK(pipe(ends) ? cudaErrorUnknown : cudaSuccess);
     (void)!write(ends[1], &d, sizeof d), (void)!read(ends[0], &e, sizeof e);
     close(ends[0]); close(ends[1]))
CASE(digits, std::string words = std::to_string((unsigned long)d),
     e = (int *)std::stoul(words))
CASE(characters, char words[64];
     auto end = std::to_chars(words, words + 64, (unsigned long)d),
     unsigned long back;
     std::from_chars(words, end.ptr, back); e = (int *)back)
CASE(halves, volatile unsigned low = (unsigned)(uintptr_t)d;
     volatile unsigned high = (unsigned)((uintptr_t)d >> 32),
     e = (int *)((uintptr_t)high << 32 | low))
CASE(number, volatile double value = (double)(uintptr_t)d,
     e = (int *)(uintptr_t)value)
CASE(pattern, double value; memcpy(&value, &d, 8);
     volatile double kept = value, value = kept; memcpy(&e, &value, 8))
CASE(bits, volatile unsigned char bit[64];
     for (int i = 0; i < 64; ++i) bit[i] = (uintptr_t)d >> i & 1,
     uintptr_t back = 0;
     for (int i = 0; i < 64; ++i) if (bit[i]) back |= (uintptr_t)1 << i;
     e = (int *)back)
CASE(swapped, volatile uint64_t other = __builtin_bswap64((uintptr_t)d),
     e = (int *)__builtin_bswap64(other))

int main() {
  environment(1), scanned(2), file(3), printed(4), pipeline(5), digits(6);
  characters(7), halves(8), number(9), pattern(10), bits(11), swapped(12);
  return failures != 0;
}
