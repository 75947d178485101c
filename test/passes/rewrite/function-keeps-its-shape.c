// RUN: dragon-summary %t.sm_90 'scale: read-write'
// RUN: %host-ir -O0 -g %s | %directives -dragon-summary=%t > %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: llc -O0 -filetype=null %t.ll

// A function that is rewritten keeps its linkage, attributes, parameters and
// debug information; nothing is left of the copy.
#include "cuda.h"

KERNEL1(scale, float *)

// CHECK-NOT: dragon.flat
// CHECK: define weak dso_local void @weakly(i64 noundef %bytes){{.*}} #[[ATTRIBUTES:[0-9]+]]{{.*}} section "elsewhere"{{.*}} !dbg ![[SUBPROGRAM:[0-9]+]]
// CHECK-NOT: dragon.flat
// CHECK: call i32 @__dragon_malloc({{.*}} !dbg ![[CALL:[0-9]+]]
// CHECK-NOT: dragon.flat
// CHECK-NOT: !dragon.name
// CHECK: attributes #[[ATTRIBUTES]] = { {{.*}}noinline{{.*}}optnone
// CHECK-DAG: ![[SUBPROGRAM]] = distinct !DISubprogram(name: "weakly"
// CHECK-DAG: ![[CALL]] = !DILocation(line: [[#@LINE+5]], column: 3, scope: ![[SUBPROGRAM]])
__attribute__((weak, section("elsewhere"))) void weakly(size_t bytes) {
  float *d;

  // Here:
  cudaMalloc((void **)&d, bytes);
  LAUNCH(scale, d);
  cudaFree(d);
}
