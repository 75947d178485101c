// RUN: dragon-summary %t.sm_90 'read: read' 'write: write' 'filter: read value'
// RUN: %host-ir -O1 %s | %directives -dragon-summary=%t -pass-remarks=dragon -pass-remarks-missed=dragon 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// Loops that walk through a buffer leave it behind, if what is tested at run time says so.
#include "cuda.h"

KERNEL1(read, float *)
KERNEL1(write, float *)
KERNEL2(filter, float *, int)

static size_t min(size_t a, size_t b) { return a < b ? a : b; }

// The grid is never larger than that of a whole window; `count` may have any value.
// CHECK-LABEL: define {{.*}}@windows(
// CHECK: [[ANY:%.*]] = getelementptr inbounds ptr, ptr [[ARGS:%dragon.args.*]], i64 1
// CHECK: store ptr null, ptr [[ANY]]
// CHECK: [[SUM:%.*]] = call i64 @llvm.uadd.sat.i64(i64 {{.*}}%window
// CHECK: [[YES:%.*]] = call i32 @__dragon_reads_upwards(ptr @__device_stub__filter, i64 {{.*}}, i32 1, i64 {{.*}}, i32 1, ptr [[ARGS]], i32 0, i32 0)
// CHECK: [[IF:%.*]] = and i32 {{.*}}, [[YES]]
// CHECK: call void @__dragon_last_use(i32 [[IF]], ptr %d{{[0-9]*}}, i64 %{{.*}})
// CHECK-NEXT: call void @__device_stub__filter(
// REMARK: 'd' discarded after 'filter' up to where the next iteration reads it from: nothing below is read again
void windows(size_t total, size_t window, float *h) {
  float *d;
  cudaMalloc((void **)&d, 4 * total);
  for (size_t start = 0; start < total; start += window) {
    size_t count = min(total - start, window);
    cudaMemcpy(d + start, h + start, 4 * count, H2D);
    if (!__cudaPushCallConfiguration((unsigned)((count + 255) / 256) | 1ul << 32,
                                     1, 256 | 1ul << 32, 1, 0, NULL))
      __device_stub__filter(d + start, count);
  }
  cudaFree(d);
}

// A step that is known to be none backwards, and no test at all.
// CHECK-LABEL: define {{.*}}@copiedOut(
// CHECK: call i32 @cudaMemcpy(
// CHECK: call void @__dragon_discard(ptr %d{{[0-9]*}}, i64 {{.*}}, ptr null)
// REMARK: 'd' discarded after 'cudaMemcpy' up to where the next iteration reads it from
void copiedOut(size_t parts, float *h) {
  float *d;
  cudaMalloc((void **)&d, 4096 * parts);
  LAUNCH(write, d);
  for (size_t part = 0; part < parts; ++part)
    cudaMemcpy(h, d + 1024 * part, 4096, D2H);
  cudaFree(d);
}

// CHECK-LABEL: define {{.*}}@backwards(
// CHECK-NOT: __dragon_last_use
// CHECK-NOT: __dragon_discard({{.*}}i64 %
// CHECK: ret void
void backwards(size_t parts, float *h) {
  float *d;
  cudaMalloc((void **)&d, 4096 * parts);
  LAUNCH(write, d);
  for (size_t part = parts; part > 0; --part)
    LAUNCH(read, d + 1024 * (part - 1));
  cudaFree(d);
}

// All of it is read afterwards.
// CHECK-LABEL: define {{.*}}@readAfterwards(
// CHECK-NOT: __dragon_last_use({{.*}}i64 %
// CHECK: call i32 @cudaMemcpy(
void readAfterwards(size_t parts, float *h) {
  float *d;
  cudaMalloc((void **)&d, 4096 * parts);
  LAUNCH(write, d);
  for (size_t part = 0; part < parts; ++part)
    LAUNCH(read, d + 1024 * part);
  cudaMemcpy(h, d, 4096 * parts, D2H);
  cudaFree(d);
}

// A number of 32 bits may wrap and begin again.
// CHECK-LABEL: define {{.*}}@wraps(
// CHECK-NOT: __dragon_last_use({{.*}}i64 %
// CHECK: ret void
void wraps(unsigned step, int times) {
  float *d;
  cudaMalloc((void **)&d, 4ul << 32);
  LAUNCH(write, d);
  unsigned at = 0;
  for (int i = 0; i < times; ++i) {
    LAUNCH(read, d + at);
    at += step;
  }
  cudaFree(d);
}

// Not in every iteration: the pointer is made without being used, so nothing says that it is in the buffer.
// CHECK-LABEL: define {{.*}}@sometimes(
// CHECK-NOT: __dragon_last_use({{.*}}i64 %
// CHECK: ret void
void sometimes(size_t step, int times, const int *when) {
  float *d;
  cudaMalloc((void **)&d, 4096);
  LAUNCH(write, d);
  size_t at = 0;
  for (int i = 0; i < times; ++i) {
    if (when[i])
      LAUNCH(read, d + at);
    at += step;
  }
  cudaFree(d);
}

// Through another pointer, too.
// CHECK-LABEL: define {{.*}}@alsoWhole(
// CHECK-NOT: __dragon_last_use({{.*}}i64 %
// CHECK: ret void
void alsoWhole(size_t parts) {
  float *d;
  cudaMalloc((void **)&d, 4096 * parts);
  LAUNCH(write, d);
  for (size_t part = 0; part < parts; ++part) {
    LAUNCH(read, d);
    LAUNCH(read, d + 1024 * part);
  }
  cudaFree(d);
}

// Its grid has no bound in the loop.
// CHECK-LABEL: define {{.*}}@anyGrid(
// CHECK-NOT: __dragon_last_use({{.*}}i64 %
// CHECK: ret void
// REMARK: 'd' not discarded after 'read' up to where the next iteration reads it from: whether 'read' {{.*}} reads below its pointer depends on
void anyGrid(size_t parts, const unsigned *grids) {
  float *d;
  cudaMalloc((void **)&d, 4096 * parts);
  LAUNCH(write, d);
  for (size_t part = 0; part < parts; ++part)
    if (!__cudaPushCallConfiguration(grids[part] | 1ul << 32, 1,
                                     256 | 1ul << 32, 1, 0, NULL))
      __device_stub__read(d + 1024 * part);
  cudaFree(d);
}
