// RUN: dragon-summary %t.sm_90 'scale: read write'
// RUN: %host-ir -O0 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s
// RUN: %host-ir -O2 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// The plainest program: one file in, one kernel, one file out.
#include "cuda.h"

KERNEL2(scale, const float *, float *)

// CHECK-LABEL: buffer program of main:
// CHECK-NEXT: staging h_in [[N:s[0-9]+]]{{$}}
// CHECK-NEXT: staging h_out [[N]]{{$}}
// CHECK-NEXT: buffer d_in [[N]]{{$}}
// CHECK-NEXT: buffer d_out [[N]]{{$}}
// CHECK-NEXT: file in{{$}}
// CHECK-NEXT: file out{{$}}
int main(int argc, char **argv) {
  size_t n = argc;
  // What "wb" opens is empty then.
  // CHECK: open in{{$}}
  // CHECK-NEXT: open out new{{$}}
  FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
  // CHECK-NEXT: alloc (h_in)
  // CHECK-NEXT: alloc (h_out)
  float *h_in = malloc(4 * n), *h_out = malloc(4 * n), *d_in, *d_out;
  // CHECK-NEXT: file-read in must-write(h_in)
  fread(h_in, 4, n, in);
  // CHECK-NEXT: alloc (d_in)
  // CHECK-NEXT: alloc (d_out)
  cudaMalloc((void **)&d_in, 4 * n);
  cudaMalloc((void **)&d_out, 4 * n);
  // CHECK-NEXT: copy-in read(h_in)* must-write(d_in)
  cudaMemcpy(d_in, h_in, 4 * n, H2D);
  // CHECK: launch scale read(d_in) write(d_out)
  LAUNCH(scale, d_in, d_out);
  // CHECK: copy-out read(d_out)* must-write(h_out)
  cudaMemcpy(h_out, d_out, 4 * n, D2H);
  // CHECK-NEXT: file-write out read(h_out)*
  fwrite(h_out, 4, n, out);
  // CHECK-NEXT: free (d_in)
  // CHECK-NEXT: free (d_out)
  // CHECK-NEXT: free (h_in)
  // CHECK-NEXT: free (h_out)
  // CHECK-NEXT: return
  cudaFree(d_in);
  cudaFree(d_out);
  free(h_in);
  free(h_out);
  return 0;
}
