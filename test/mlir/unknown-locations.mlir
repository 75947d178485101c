// Operations that compilers make at no place: in the host's functions, in kernels, and inlined.
// RUN: dragon-opt --dragon-pipeline --remark-format=emitRemark --remarks-filter=dragon %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: dragon-translate --dragon-to-host-llvmir %t.mlir | opt -passes=verify -disable-output
// RUN: dragon-translate --dragon-to-device-llvmir %t.mlir | opt -passes=verify -disable-output
// REMARK: '{{.*}}' mapped volatile

// A call site has the place of whichever side has one.
// RUN: dragon-opt --dragon-locations --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s
// RUN: dragon-opt --dragon-locations --ensure-debug-info-scope-on-llvm-func %s -o /dev/null
// CHECK-LABEL: llvm.func @sites
// CHECK-NEXT: llvm.call @g() {{.*}} loc(unknown)
// CHECK-NEXT: llvm.call @g() {{.*}} loc("x":3:4)
// CHECK-NEXT: llvm.call @g() {{.*}} loc("y":1:2)
// CHECK-NEXT: llvm.call @g() {{.*}} loc(callsite(fused["y":1:2, "z":1:1] at "x":3:4))
// CHECK-NEXT: llvm.call @g() {{.*}} loc(callsite("y":1:2 at "x":3:4))
module attributes {gpu.container_module} {
  llvm.func @g()
  llvm.func @sites() {
    llvm.call @g() : () -> () loc(callsite(unknown at unknown))
    llvm.call @g() : () -> () loc(callsite(unknown at "x":3:4))
    llvm.call @g() : () -> () loc(callsite("y":1:2 at unknown))
    llvm.call @g() : () -> () loc(callsite(fused["y":1:2, callsite(unknown at "z":1:1)] at callsite(unknown at "x":3:4)))
    llvm.call @g() : () -> () loc(callsite("y":1:2 to 3:4 at "x":3:4))
    llvm.return loc(unknown)
  }
  gpu.module @kernels {
    gpu.func @k(%a: memref<1024xf32>) kernel {
      %x = gpu.global_id x loc(unknown)
      %f = arith.constant 1.0 : f32 loc(unknown)
      memref.store %f, %a[%x] : memref<1024xf32> loc(unknown)
      gpu.return loc(unknown)
    } loc(unknown)
  } loc(unknown)
  func.func private @go(%a: memref<1024xf32>) {
    %c1 = arith.constant 1 : index loc(unknown)
    %c8 = arith.constant 8 : index loc(unknown)
    %c128 = arith.constant 128 : index loc(unknown)
    gpu.launch_func @kernels::@k blocks in (%c8, %c1, %c1) threads in (%c128, %c1, %c1) args(%a : memref<1024xf32>) loc(unknown)
    return loc(unknown)
  } loc(unknown)
  func.func @main() {
    %a = gpu.alloc () : memref<1024xf32> loc(unknown)
    // From a function that is inlined, and has no place itself.
    call @go(%a) : (memref<1024xf32>) -> ()
    gpu.dealloc %a : memref<1024xf32> loc(unknown)
    return loc(unknown)
  } loc(unknown)
} loc(unknown)
