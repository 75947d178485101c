// __nv_bfloat16: values that are known at run time only are rounded to nearest, ties to even.
// RUN: %conforms %s
#include "conformance.h"
#include <cuda_bf16.h>

constexpr int N = 12;

__global__ void round(const double *x, unsigned short *fromFloat,
                      unsigned short *fromDouble) {
  int i = threadIdx.x;
  fromFloat[i] = __bfloat16_as_ushort(__float2bfloat16((float)x[i]));
  fromDouble[i] = __bfloat16_as_ushort(__double2bfloat16(x[i]));
}

int main() {
  const double values[N] = {1,          2.7182818284590451,
                            1.00390625, 1.01171875,
                            -0.0,       1e-40,
                            3.4e38,     -1e300,
                            -3.5,       1.0039062500000002,
                            0.1,        1e-50};
  // Of the tenth only a double is more than half way.
  const unsigned short expected[N] = {0x3f80, 0x402e, 0x3f80, 0x3f82,
                                      0x8000, 0x0001, 0x7f80, 0xff80,
                                      0xc060, 0x3f81, 0x3dcd, 0x0000};
  double *x = onDevice<double>(N);
  unsigned short *fromFloat = onDevice<unsigned short>(N),
                 *fromDouble = onDevice<unsigned short>(N);
  cudaMemcpy(x, values, sizeof(values), cudaMemcpyHostToDevice);
  round<<<1, N>>>(x, fromFloat, fromDouble);
  auto f = fetch(fromFloat, N), d = fetch(fromDouble, N);
  for (int i = 0; i < N; ++i) {
    const unsigned short once = i == 9 ? 0x3f80 : expected[i];
    if (d[i] != expected[i] || f[i] != once) {
      fprintf(stderr, "number %d: %04x and %04x, expected %04x and %04x\n", i,
              f[i], d[i], once, expected[i]);
      return 1;
    }
  }
  return 0;
}
