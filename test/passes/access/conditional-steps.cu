// Steps that a thread makes in each iteration or in none: an index that goes on only where the thread has something to do.
//
// RUN: %device -O0 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
// RUN: %device -O3 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
#include "device.h"

// CHECK-LABEL: kernel planes{{$}}
// CHECK-NEXT:    in (argument 0): read, streaming
// CHECK-NEXT:      read exact 4 bytes at 4*sext64(64*bid.x + arg3 + tid.x + arg3*trunc32(k0))
// CHECK-NEXT:        while trunc32(k0) <s arg4
// CHECK-NEXT:        if 64*bid.x + tid.x <s arg2
// CHECK-NEXT:        if trunc32(k0) <s -1 + arg4
// CHECK-NEXT:    out (argument 1): write, streaming
// CHECK-NEXT:      write exact 4 bytes at 4*sext64(64*bid.x + tid.x) + 4*sext64(arg3)*k0

extern "C" __global__ void planes(const int *in, int *out, int width, int plane, int count) {
  int i = threadIdx.x + blockIdx.x * 64;
  const bool active = i < width;
  for (int k = 0; k < count; ++k)
    if (active) {
      const int at = i;
      i += plane;
      if (k < count - 1)
        out[at] = in[i];
    }
}
