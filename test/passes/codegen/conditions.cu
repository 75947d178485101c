// A condition of a few instructions is computed at once with the one in front of it: a warp whose threads branch apart takes both ways.
// What takes long is computed only where it is needed.
// RUN: %dragon-cc --dragon-targets=cuda -arch=sm_90 -O3 -ptx %s -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: rm %t.ptx

// CHECK-LABEL: .entry crosses(
// CHECK-NOT:   bra
// CHECK:       xor.b32
// CHECK-NOT:   bra
// CHECK:       ret
extern "C" __global__ void crosses(int *inside, const float *x, const float *y,
                                   float y0, float y1, float slope) {
  int i = threadIdx.x;
  int c = inside[i];
  float px = x[i], py = y[i];
  if ((y0 > py) != (y1 > py) && px < slope * (py - y0) + y1)
    c ^= 1;
  inside[i] = c;
}

// CHECK-LABEL: .entry divides(
// CHECK:       bra
// CHECK:       div.rn.f32
// CHECK:       ret
extern "C" __global__ void divides(int *out, const float *x, const float *y) {
  int i = threadIdx.x;
  float a = x[i], b = y[i];
  out[i] = a > 0 && a / b + b > 3;
}
