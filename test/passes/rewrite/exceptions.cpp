// RUN: dragon-summary %t.sm_90 'scale: read-write'
// RUN: %host-cxx-ir -O0 %s | %directives -dragon-summary=%t | FileCheck %s
// RUN: %host-cxx-ir -O2 %s | %directives -dragon-summary=%t | FileCheck %s

// Calls that may unwind, destructors that free, new and delete.
#include "cuda.h"

extern "C" {
KERNEL1(scale, float *)
}

struct Array {
  float *data;
  explicit Array(size_t n) : data(new float[n]) {}
  ~Array() { delete[] data; }
};
struct DeviceArray {
  float *data;
  explicit DeviceArray(size_t n) {
    if (cudaMalloc((void **)&data, 4 * n))
      throw 1;
  }
  ~DeviceArray() { cudaFree(data); }
};
void mayThrow();

// CHECK-LABEL: define {{.*}}@_Z3runmP8_IO_FILE(
// CHECK: [[H:%[0-9a-z.]+]] = call {{.*}}@_Znam(
// CHECK: invoke i32 @__dragon_malloc(
// CHECK-NEXT: to label %{{[^ ]+}} unwind label
// CHECK: invoke i64 @__dragon_stage_fread(ptr [[H]],
// CHECK: invoke i32 @__dragon_stage_memcpy(
// CHECK: invoke void @_Z8mayThrowv()
// CHECK: call void @__dragon_stage_forget(ptr [[H]],
// CHECK-NEXT: call void @_ZdaPv(ptr {{.*}}[[H]])
// CHECK: landingpad
// CHECK: call void @__dragon_stage_forget(ptr [[H]],{{.*[[:space:]]+}}call void @_ZdaPv(ptr {{.*}}[[H]])
void run(size_t n, FILE *in) {
  Array h(n);
  DeviceArray d(n);
  fread(h.data, 4, n, in);
  cudaMemcpy(d.data, h.data, 4 * n, H2D);
  mayThrow();
  LAUNCH(scale, d.data);
}
