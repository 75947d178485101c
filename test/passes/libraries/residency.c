// RUN: %host-ir -O0 %s | %residency | FileCheck %s
// RUN: %host-cxx-ir -O0 -DCXX %s | %residency | FileCheck %s --check-prefixes=CXX

// Around each call of a library function the runtime is told what it uses.
#include "library.h"

#ifndef CXX
// CHECK: @dragon.name = private unnamed_addr constant {{.*}} c"blasSgemm\00"
// CHECK: [[SITE:@dragon.call]] = private constant { {{.*}} } { ptr @dragon.name, ptr @dragon.name.1, ptr @dragon.name.2, i32 [[#@LINE+17]], i32 10 }

// The stream is the handle's. Sizes as expressions over the arguments; a scalar in memory of the host is looked at.
// CHECK-LABEL: define {{.*}} @gemm(
// CHECK: [[ZERO:%.*]] = load i32, ptr %beta.addr, align 1
// CHECK: [[IS:%.*]] = icmp eq i32 [[ZERO]], 0
// CHECK: [[IF:%.*]] = and i1 [[IS]], true
// CHECK: [[MODE:%.*]] = select i1 [[IF]], i32 3, i32 2
// CHECK: store ptr null, ptr %dragon.stream
// CHECK: call i32 @blasGetStream(ptr %{{[0-9]+}}, ptr %dragon.stream)
// CHECK: [[STREAM:%.*]] = load ptr, ptr %dragon.stream
// CHECK: [[TOKEN:%.*]] = call ptr (ptr, i32, ptr, i32, ...) @__dragon_library_begin(ptr [[SITE]], i32 1, ptr [[STREAM]], i32 3, ptr %{{[0-9]+}}, i64 256, i32 1, ptr %{{[0-9]+}}, i64 256, i32 1, ptr %{{[0-9]+}}, i64 256, i32 [[MODE]])
// CHECK: [[OK:%.*]] = icmp ne ptr [[TOKEN]], null
// CHECK: br i1 [[OK]], label %[[MADE:[a-z.]+]], label %[[SKIPPED:[a-z.]+]], !dbg
// CHECK: {{^}}[[MADE]]:
int gemm(blasHandle handle, const float *a, const float *b, float beta, float *c) {
  float alpha = 1;
  return blasSgemm(handle, 0, 0, 8, 8, 8, &alpha, a, 8, b, 8, &beta, c, 8);
}
// CHECK-NEXT: [[STATUS:%.*]] = call i32 @blasSgemm_v2
// CHECK-NEXT: call void @__dragon_library_end(ptr [[TOKEN]])
// CHECK-NEXT: br label %[[BEHIND:[a-z.]+]]
// CHECK: {{^}}[[SKIPPED]]:
// CHECK-NEXT: br label %[[BEHIND]]
// CHECK: {{^}}[[BEHIND]]:
// CHECK-NEXT: phi i32 [ [[STATUS]], %[[MADE]] ], [ 13, %[[SKIPPED]] ]

// Scalars that may be on the device are used there; the runtime knows where one is.
// CHECK-LABEL: define {{.*}} @scalars(
// CHECK: [[ZERO:%.*]] = call i32 @__dragon_host_zero(ptr %{{[0-9]+}}, i64 4)
// CHECK: [[IS:%.*]] = icmp ne i32 [[ZERO]], 0
// CHECK: [[ALL:%.*]] = and i1 [[IS]], true
// CHECK: [[MODE:%.*]] = select i1 [[ALL]], i32 3, i32 2
// CHECK: @__dragon_library_begin(ptr @{{.*}}, i32 1, ptr %{{[0-9]+}}, i32 5, ptr %{{[0-9]+}}, i64 4, i32 1, ptr {{.*}}, i64 4, i32 1, ptr %{{[0-9]+}}, i64 256, i32 [[MODE]])
int scalars(blasHandle handle, const float *alpha, const float *a, const float *beta, float *c) {
  return blasSgemm(handle, 0, 0, 8, 8, 8, alpha, a, 8, a, 8, beta, c, 8);
}

// Of what the pointers of an array point to.
// CHECK-LABEL: define {{.*}} @batched(
// CHECK: [[COUNT:%.*]] = sext i32 %{{.*}} to i64
// CHECK: @__dragon_library_begin(ptr @{{.*}}, i32 1, ptr %{{[0-9]+}}, i32 6, ptr [[AS:%[0-9]+]], i64 [[COUNT]], i32 5, ptr [[AS]], i64 256, i32 1, ptr [[BS:%[0-9]+]], i64 %{{.*}}, i32 5, ptr [[BS]], i64 256, i32 1, ptr [[CS:%[0-9]+]], i64 %{{.*}}, i32 5, ptr [[CS]], i64 256, i32 3)
int batched(blasHandle handle, const float *const *as, const float *const *bs, float *const *cs, int count) {
  static const float none = 0;
  return blasSgemmBatched(handle, 8, 8, 8, as, 8, bs, 8, &none, cs, 8, count);
}

// What only the library knows of a matrix.
// CHECK-LABEL: define {{.*}} @described(
// CHECK: [[BYTES:%.*]] = call i64 @__dragon_matrix_bytes(ptr [[LAYOUT:%[0-9]+]])
// CHECK: @__dragon_library_begin(ptr @{{.*}}, i32 1, ptr %{{[0-9]+}}, i32 2, ptr %{{[0-9]+}}, i64 [[BYTES]], i32 2, ptr [[LAYOUT]], i64 -1, i32 2)
int described(float *a, const void *layout, cudaStream_t s) {
  return blasMatmul(a, layout, s);
}

// CHECK-LABEL: define {{.*}} @inStream(
// CHECK: [[S:%.*]] = load ptr, ptr %s.addr
// CHECK: @__dragon_library_begin(ptr @{{.*}}, i32 1, ptr [[S]], i32 1,
void inStream(int n, float *x, cudaStream_t s) {
  blasScale(n, x, s);
}

// CHECK-LABEL: define {{.*}} @conditional(
// CHECK: [[T:%.*]] = ptrtoint ptr %{{.*}} to i64
// CHECK: [[USED:%.*]] = icmp ne i64 [[T]], 0
// CHECK: select i1 [[USED]], i32 2, i32 0
void conditional(void *t, size_t *bytes, float *x, float *r) {
  blasSum(t, bytes, x, 8, r);
}

// CHECK-LABEL: define {{.*}} @keeps(
// CHECK: @__dragon_library_begin({{.*}}, i64 -1, i32 4)
void keeps(blasHandle handle, void *w) { blasSetWorkspace(handle, w, 8); }

// CHECK-LABEL: define {{.*}} @neutral(
// CHECK-NOT: dragon
// CHECK: ret void
void neutral(blasHandle handle, int *version) {
  blasCreate(&handle);
  blasVersion(handle, version);
  blasDestroy(handle);
}

// Of the library by its name, and not described.
// CHECK-LABEL: define {{.*}} @unknown(
// CHECK: call void (ptr, i32, i32, ...) @__dragon_library_unknown(ptr @{{.*}}, i32 1, i32 2, ptr %{{[0-9]+}}, i64 0, ptr %{{[0-9]+}}, i64 0)
// CHECK-NEXT: call i32 @blasMystery
void unknown(blasHandle handle, float *x) { blasMystery(handle, x); }

// What lies in the caller's variables may be pointers.
// CHECK-LABEL: define {{.*}} @inVariable(
// CHECK: @__dragon_library_unknown({{.*}}, ptr %{{[a-z0-9]+}}, i64 8)
int blasMysteries(blasHandle, float **);
void inVariable(blasHandle handle, float *x) {
  float *pair[1] = {x};

  blasMysteries(handle, pair);
}

// Calls with a descriptor say what it leads to.
// CHECK-LABEL: define {{.*}} @inDescriptor(
// CHECK-NOT: dragon
// CHECK: ret void
int blasDescribe(void *, float **);
void inDescriptor(void *descriptor, float *x) { blasDescribe(descriptor, &x); }

void other(float *);
// CHECK-LABEL: define {{.*}} @notOurs(
// CHECK-NOT: dragon
// CHECK: ret void
void notOurs(float *x) { other(x); }

#else

struct Cleanup {
  ~Cleanup();
};
namespace header {
void scale(float *x, int n);
}

// A C function does not throw.
// CXX-LABEL: define {{.*}} @_Z9cFunctioniPfP
// CXX: call i32 @blasScale(
// CXX-NEXT: call void @__dragon_library_end(
void cFunction(int n, float *x, cudaStream_t s) {
  Cleanup c;
  blasScale(n, x, s);
}

// A C++ function may: it has ended then, too.
// CXX-LABEL: define {{.*}} @_Z11cxxFunctioniPf(
// CXX: [[TOKEN:%.*]] = call ptr (ptr, i32, ptr, i32, ...) @__dragon_library_begin(
// CXX: invoke void @_ZN6header5scaleEPfi(
// CXX-NEXT: to label %[[NORMAL:[a-z.]+]] unwind label %[[PAD:[a-z.]+]], !dbg
// CXX: {{^}}[[NORMAL]]:
// CXX-NEXT: call void @__dragon_library_end(ptr [[TOKEN]])
// CXX: {{^}}[[PAD]]:
// CXX-NEXT: landingpad
// CXX-NEXT: cleanup
// CXX-NEXT: call void @__dragon_library_end(ptr [[TOKEN]])
void cxxFunction(int n, float *x) {
  Cleanup c;
  header::scale(x, n);
}

// CXX-LABEL: define {{.*}} @_Z8twoCallsiPf(
// CXX: invoke void @_ZN6header5scaleEPfi(
// CXX: invoke void @_ZN6header5scaleEPfi(
void twoCalls(int n, float *x) {
  Cleanup c;
  header::scale(x, n);
  header::scale(x, n);
}
#endif
