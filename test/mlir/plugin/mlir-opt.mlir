// The dialect and the passes in mlir-opt.
// RUN: mlir-opt --load-dialect-plugin=%libdir/libDragonMLIR.so --load-pass-plugin=%libdir/libDragonMLIR.so \
// RUN:   --pass-pipeline="builtin.module(dragon-slice-kernels)" %s | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%libdir/libDragonMLIR.so --load-pass-plugin=%libdir/libDragonMLIR.so \
// RUN:   --pass-pipeline="builtin.module(dragon-pipeline)" %s | FileCheck %s --check-prefix=LOWERED
// CHECK: dragon.alloc(%{{.*}}) flags(volatile) : memref<?xf32>
// LOWERED: llvm.call @__dragon_malloc
func.func @f(%n: index) {
  %a = dragon.alloc (%n) flags(volatile) : memref<?xf32>
  dragon.free %a : memref<?xf32>
  return
}
