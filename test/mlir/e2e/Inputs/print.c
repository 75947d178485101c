/* Called with the parts of a memref<?xf32>. */
#include <stdint.h>
#include <stdio.h>

void print(float *allocated, float *aligned, int64_t offset, int64_t size,
           int64_t stride) {
  (void)allocated;
  double sum = 0;
  for (int64_t i = 0; i < size; ++i)
    sum += aligned[offset + i * stride];
  printf("%lld elements, sum %.0f\n", (long long)size, sum);
}
