// RUN: %dragon-cc -O2 -c %s -o %t.o -Rpass-analysis=dragon -Rpass=dragon --dragon-summaries=%S/Inputs/mine.yaml 2>&1 \
// RUN:   | grep remark: | grep -v mapped | FileCheck %s --implicit-check-not=remark:

// A function without a summary, once; and what a summary brings.
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
  // CHECK: libraries.cu:[[#@LINE+1]]:3: remark: 'tools::mystery' has no summary: every buffer that it can reach counts as read and written, and must stay in device memory; describe it in YAML and name the file with --dragon-summaries= [-Rpass-analysis=dragon]
  tools::mystery(d);
  tools::mystery(e);
}

void described(int n) {
  float *d;
  cudaMalloc(&d, n * sizeof(float));
  known(d, n, 0);
  // CHECK: libraries.cu:[[#@LINE+1]]:3: remark: 'd' discarded after 'use': overwritten by 'known' at line [[#@LINE+2]] before any read [-Rpass=dragon]
  use(d);
  known(d, n, 0);
  use(d);
}
