// What a loop has walked through never leaves the device, as a test at run time has found; where launches read below their
// pointers, or go back, all of it is kept.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/swap && cd %t.dir
// RUN: %build %s -o program -Rpass=dragon -Rpass-missed=dragon 2>&1 | FileCheck %s
// RUN: ./program up.txt 65536 0 && ./program below.txt 65536 -1000 && ./program stays.txt 0 0 && ./program down.txt -65536 0
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_WAVEFRONT=off DRAGON_STATS=up.json ./program out.txt 65536 0
// RUN: cmp out.txt up.txt
//   Of four buffers of 16 MiB, all made on the device: nearly all of `in` is dropped behind the launches.
// RUN: %ledger up.json 'avoided_discard >= 14*M' 'cpu: avoided_discard >= 18*M'
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_WAVEFRONT=off DRAGON_STATS=below.json \
// RUN:   ./program out.txt 65536 -1000
// RUN: cmp out.txt below.txt
// RUN: %ledger below.json 'avoided_discard <= 12*M'
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M ./program out.txt 0 0
// RUN: cmp out.txt stays.txt
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M ./program out.txt -65536 0
// RUN: cmp out.txt down.txt
// RUN: rm -rf %t.dir
#include "e2e.h"

const int Total = 4 << 20;
const int Window = 1 << 16;

__global__ void make(uint32_t *to, int n, uint32_t seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = i * 2654435761u + seed;
}

__global__ void add(uint32_t *sum, const uint32_t *in, int n, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    sum[i] += in[i + shift] ^ (in[i] >> 3);
}

static uint32_t *made(uint32_t seed) {
  uint32_t *memory;
  CHECK(cudaMalloc(&memory, Total * 4));
  make<<<Total / 256, 256>>>(memory, Total, seed);
  return memory;
}

int main(int, char **argv) {
  const long step = atol(argv[2]);
  const int shift = atoi(argv[3]);
  // Where no launch leaves the buffers, and windows that begin just above a chunk.
  const size_t first = step < 0 ? Total - Window : Window + 100;
  const int launches = step ? Total / Window - 3 : 3;
  const int blocks = Window / 256;
  uint32_t *sum = made(1), *in = made(2), *twice = made(3), *kept = made(4);

  size_t at = first;
  for (int i = 0; i < launches; ++i, at += step)
    // CHECK: remark: 'in' discarded after 'add' up to where the next iteration reads it from: nothing below is read again
    add<<<blocks, 256>>>(sum, in + at, Window, shift);

  // The first half again and again, then the second half: an outer loop begins anew.
  for (int half = 0; half < 4; ++half) {
    size_t from = first;
    for (int i = 0; i < launches / 2; ++i, from += step)
      add<<<blocks, 256>>>(sum, kept + from, Window, shift);
  }
  // Each iteration looks back at the one before.
  at = first;
  for (int i = 0; i < launches; ++i, at += step) {
    const int back = i == 0 ? 0 : i % 2 ? -1 : -2000;
    // CHECK-NOT: 'kept' discarded after 'add' up to
    // CHECK: remark: 'twice' discarded after 'add' up to
    add<<<blocks, 256>>>(sum, twice + at, Window, back);
  }

  std::vector<uint32_t> h(Total);
  CHECK(cudaMemcpy(h.data(), sum, Window * 4, cudaMemcpyDeviceToHost));
  FILE *out = openFile(argv[1], "wb");
  REQUIRE(fwrite(h.data(), 4, Window, out) == Window);
  fclose(out);
  return 0;
}
