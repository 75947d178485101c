// RUN: dragon-summary %t.sm_90 'keep: any'
// RUN: %host-ir -O0 %s > %t.before
// RUN: %directives -dragon-summary=%t %t.before -o %t.after
// RUN: opt -S %t.before -o - | sed 1d > %t.1
// RUN: sed 1d %t.after > %t.2
// RUN: diff %t.1 %t.2

// Where nothing is proved the program stays as it was, to the letter.
#include "cuda.h"

KERNEL1(keep, float *)
void look(float *);

static void helper(float *h, size_t n) {
  for (size_t i = 0; i < n; ++i)
    h[i] *= 2;
}

int main(int argc, char **argv) {
  FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
  float *h = malloc(argc), *d;
  cudaMalloc((void **)&d, argc);
  fread(h, 1, argc, in);
  look(h);
  helper(h, argc / 4);
  cudaMemcpy(d, h, argc, H2D);
  LAUNCH(keep, d);
  cudaMemcpy(h, d, argc, D2H);
  fwrite(h, 1, argc, out);
  cudaFree(d);
  free(h);
  return 0;
}
