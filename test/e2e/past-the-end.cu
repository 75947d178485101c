// Kernels that go past a buffer: by far, between what is mapped and in strict mode by one page, they fault, as on a device;
// in strict mode by one byte, what they have written is found. The message names the buffer.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program write 999 && %strict ./program write 999
// RUN: for at in 1000000000 12500000000 -1000000000; do for mode in write read; do \
// RUN:   %plain %fails ./program $mode $at && %strict %fails ./program $mode $at || exit 1; done; done > far.txt 2>&1
// RUN: FileCheck %s --check-prefix=FAR < far.txt
// RUN: not grep footprint far.txt
// RUN: %strict %fails ./program write 1024 2>&1 | FileCheck %s --check-prefix=PAGE
// RUN: %strict %fails ./program read 1024 2>&1 | FileCheck %s --check-prefix=PAGE
// RUN: %strict %fails ./program write 1000 2>&1 | FileCheck %s --check-prefix=BYTE
// RUN: %strict %fails ./program scatter 1001 2>&1 | FileCheck %s --check-prefix=FOUND
// RUN: rm -rf %t.dir
#include "e2e.h"

// FAR: kernel 'touch', block {{.*}}writes address {{.*}}, 3999996000 bytes past the end of the 4000-byte buffer 'd_small'
// FAR: kernel 'touch', block {{.*}}reads address {{.*}}, 3999996000 bytes past the end of the 4000-byte buffer 'd_small'
// FAR: kernel 'touch', block {{.*}}writes address {{.*}}, where no memory is
// FAR: kernel 'touch', block {{.*}}writes address {{.*}}, 4000000000 bytes before the 4000-byte buffer 'd_small'
// PAGE: kernel '{{.*}}touch{{.*}} address {{.*}}, 96 bytes past the end of the 4000-byte buffer 'd_small'
// BYTE: kernel '{{.*}}touch{{.*}} address {{.*}}, just past the end of the 4000-byte buffer 'd_small'
// FOUND: kernel 'scatter' writes 4 bytes past the end of the 4000-byte buffer 'd_small'
__global__ void touch(int *data, long at, int *out) {
  if (out)
    *out = data[at];
  else
    data[at] = 1;
}

// What it touches is not known before it runs: any part of the buffer.
__global__ void scatter(int *data, const long *at) { data[*at] = 1; }

int main(int, char **argv) {
  const bool reads = strcmp(argv[1], "read") == 0;
  const long at = atol(argv[2]);
  int *d_small, *d_out;
  CHECK(cudaMalloc(&d_small, 4000));
  CHECK(cudaMalloc(&d_out, 4000));
  CHECK(cudaMemset(d_small, 0, 4000));
  if (strcmp(argv[1], "scatter") == 0) {
    long *d_at;
    CHECK(cudaMalloc(&d_at, sizeof at));
    CHECK(cudaMemcpy(d_at, &at, sizeof at, cudaMemcpyHostToDevice));
    scatter<<<1, 1>>>(d_small, d_at);
  } else {
    touch<<<1, 1>>>(d_small, at, reads ? d_out : nullptr);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(d_small));
  CHECK(cudaFree(d_out));
  return 0;
}
