// RUN: split-file %s %t
// RUN: %dragon-cc -O2 -c %t/a.cu -o %t.o -Rpass-analysis=dragon -Rpass=dragon \
// RUN:   -mllvm -dragon-library-summaries=%t/mine.yaml 2>&1 | grep remark: | grep -v mapped | FileCheck %t/a.cu \
// RUN:   --implicit-check-not=remark:

// A function without a summary, once; and what a summary brings.
//--- mine.yaml
library: mine
functions:
- name: known
  parameters: [x, n, stream]
  stream: stream
  uses:
  - {pointer: x, mode: overwrite, bytes: 4 * n}
- name: use
  parameters: [x]
  stream: default
  uses:
  - {pointer: x, mode: read}

//--- a.cu
#include <cuda_runtime.h>

extern "C" int known(float *, int, cudaStream_t);
extern "C" int use(const float *);
namespace tools {
void mystery(float *);
}

void unknown(int n) {
  float *d, *e;
  cudaMalloc(&d, 4 * n);
  cudaMalloc(&e, 4 * n);
  // CHECK: a.cu:[[#@LINE+1]]:3: remark: 'tools::mystery' has no summary: every buffer that it can reach counts as read and written, and must stay in device memory; describe it in YAML and name the file with --dragon-summaries= [-Rpass-analysis=dragon]
  tools::mystery(d);
  tools::mystery(e);
}

void described(int n) {
  float *d;
  cudaMalloc(&d, n * sizeof(float));
  known(d, n, 0);
  // CHECK: a.cu:[[#@LINE+1]]:3: remark: 'd' discarded after 'use': overwritten by 'known' at line [[#@LINE+2]] before any read [-Rpass=dragon]
  use(d);
  known(d, n, 0);
  use(d);
}
