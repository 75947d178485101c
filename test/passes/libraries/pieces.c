// RUN: %host-ir -O0 %s | %residency | FileCheck %s

// A call with pieces is made in a loop. What a piece is, the runtime says; all expressions but the uses are of the whole call.
#include "library.h"

// CHECK-LABEL: define {{.*}} @multiply(
// CHECK: [[ONE:%dragon.one]] = alloca [2 x i64]
// CHECK: [[PIECES:%dragon.pieces]] = alloca { ptr, i64, [4 x { i64, i64, ptr, i64 }] }
int multiply(blasHandle handle, int n, long k, float *beta, float *a, float *b, int ldb, float *c) {
  return blasMultiply(handle, n, k, beta, a, b, ldb, c);
}
// At first everything is one piece.
// CHECK: [[N:%.*]] = load i32, ptr %n.addr
// CHECK: [[K:%.*]] = load i64, ptr %k.addr
// CHECK: [[BETA:%.*]] = load ptr, ptr %beta.addr
// CHECK: [[A:%.*]] = load ptr, ptr %a.addr
// CHECK: [[B:%.*]] = load ptr, ptr %b.addr
// CHECK: [[LDB:%.*]] = load i32, ptr %ldb.addr
// CHECK: [[C:%.*]] = load ptr, ptr %c.addr
// CHECK: store ptr null, ptr
// CHECK: store i64 2, ptr
// CHECK: [[N0:%.*]] = sext i32 [[N]] to i64
// CHECK: [[AT:%.*]] = getelementptr {{.*}}, ptr [[PIECES]], i32 0, i32 2, i32 0, i32 1
// CHECK-NEXT: store i64 [[N0]], ptr [[AT]]
// CHECK: [[AT:%.*]] = getelementptr {{.*}}, ptr [[PIECES]], i32 0, i32 2, i32 0, i32 2
// CHECK-NEXT: store ptr null, ptr [[AT]]
// CHECK: [[AT:%.*]] = getelementptr {{.*}}, ptr [[PIECES]], i32 0, i32 2, i32 1, i32 2
// CHECK-NEXT: store ptr [[BETA]], ptr [[AT]]
// CHECK: store i64 1065353216, ptr [[ONE]]
// CHECK: [[MAY:%.*]] = icmp ne i64 {{.*}}, 7
// CHECK: [[CUT:%.*]] = select i1 [[MAY]], i64 0, i64 1
// CHECK: store i64 [[CUT]], ptr
// CHECK: br label %[[PIECE:[a-z.]+]]
// CHECK: {{^}}[[PIECE]]:
// CHECK: [[FROM:%.*]] = load i64, ptr
// CHECK: [[COUNT:%.*]] = load i64, ptr
// CHECK: [[N1:%.*]] = trunc i64 [[COUNT]] to i32
// CHECK: [[FROMK:%.*]] = load i64, ptr
// CHECK: [[K1:%.*]] = load i64, ptr
// CHECK: [[ROWS:%.*]] = mul i64 [[FROM]], %{{.*}}
// CHECK: [[B1:%.*]] = getelementptr i8, ptr [[B]], i64 [[ROWS]]
// CHECK: [[ELEMENTS:%.*]] = mul i64 [[FROM]], 4
// CHECK: [[C1:%.*]] = getelementptr i8, ptr [[C]], i64 [[ELEMENTS]]
// CHECK: [[A1:%.*]] = getelementptr i8, ptr [[A]], i64 %{{.*}}
// CHECK: [[B2:%.*]] = getelementptr i8, ptr [[B1]], i64 %{{.*}}
// CHECK: [[FIRST:%.*]] = icmp eq i64 [[FROMK]], 0
// CHECK: [[BETA1:%.*]] = select i1 [[FIRST]], ptr [[BETA]], ptr [[ONE]]
// CHECK: [[BYTES:%.*]] = mul i64 4, [[K1]]
// CHECK: [[TOKEN:%.*]] = call ptr (ptr, i32, ptr, i32, ...) @__dragon_library_begin({{.*}}ptr [[A1]], i64 [[BYTES]], i32 1, ptr [[B2]], {{.*}}, i32 1, ptr [[C1]], {{.*}}, ptr [[PIECES]], i64 0, i32 6)
// CHECK: [[NUMBER:%.*]] = ptrtoint ptr [[TOKEN]] to i64
// CHECK: switch i64 [[NUMBER]], label %[[MADE:[a-z.]+]] [
// CHECK-NEXT: i64 0, label %[[SKIPPED:[a-z.]+]]
// CHECK-NEXT: i64 1, label %[[PIECE]]
// CHECK: {{^}}[[MADE]]:
// CHECK-NEXT: [[STATUS:%.*]] = call i32 @blasMultiply(ptr {{.*}}, i32 noundef [[N1]], i64 noundef [[K1]], ptr noundef [[BETA1]], ptr noundef [[A1]], ptr noundef [[B2]], i32 noundef [[LDB]], ptr noundef [[C1]])
// CHECK-NEXT: [[FAILED:%.*]] = icmp ne i32 [[STATUS]], 0
// CHECK-NEXT: [[FLAG:%.*]] = zext i1 [[FAILED]] to i32
// CHECK-NEXT: [[MORE:%.*]] = call i32 @__dragon_library_next(ptr [[TOKEN]], ptr [[PIECES]], i32 [[FLAG]])
// CHECK-NEXT: [[IS:%.*]] = icmp ne i32 [[MORE]], 0
// CHECK-NEXT: br i1 [[IS]], label %[[PIECE]], label %[[BEHIND:[a-z.]+]]
// CHECK: {{^}}[[SKIPPED]]:
// CHECK-NEXT: br label %[[BEHIND]]
// CHECK: {{^}}[[BEHIND]]:
// CHECK-NEXT: phi i32 [ [[STATUS]], %[[MADE]] ], [ 13, %[[SKIPPED]] ]

// A zero that may be seen is one of the first piece only.
// CHECK-LABEL: define {{.*}} @overwrites(
// CHECK: [[FIRST:%.*]] = icmp eq i64 {{.*}}, 0
// CHECK: [[IF:%.*]] = and i1 true, [[FIRST]]
// CHECK: [[MODE:%.*]] = select i1 [[IF]], i32 3, i32 2
// CHECK: @__dragon_library_begin({{.*}}, i32 [[MODE]], ptr %dragon.pieces, i64 0, i32 6)
int overwrites(blasHandle handle, float *a, float *b, float *c) {
  static const float none = 0;
  return blasMultiply(handle, 8, 8, &none, a, b, 8, c);
}

// Two ways along one parameter, of which one is taken: the other one's range is all of it.
// CHECK-LABEL: define {{.*}} @twoWays(
// CHECK: [[FIRST:%.*]] = trunc i64 {{.*}} to i32
// CHECK: [[SECOND:%.*]] = trunc i64 {{.*}} to i32
// CHECK: [[N:%.*]] = call i32 @llvm.smin.i32(i32 [[FIRST]], i32 [[SECOND]])
// CHECK: call i32 @blasVector(ptr {{.*}}, i32 noundef {{.*}}, i32 noundef [[N]],
int twoWays(blasHandle handle, int trans, int n, const float *beta, float *a, float *x, float *y) {
  return blasVector(handle, trans, n, beta, a, 8, x, y);
}
