// Buffers that change places from iteration to iteration.
// RUN: dragon-opt --dragon-unroll-exchanges --canonicalize %s | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @step(%a: memref<8xf32>, %b: memref<8xf32>) kernel {
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @even(
  // CHECK-SAME: %[[A:.*]]: memref<8xf32>, %[[B:[^:]*]]: memref<8xf32>
  // CHECK: scf.for %{{.*}} = %c0 to %c6 step %c2 {
  // CHECK-NEXT: gpu.launch_func @m::@step {{.*}} args(%[[A]] : memref<8xf32>, %[[B]] : memref<8xf32>)
  // CHECK-NEXT: gpu.launch_func @m::@step {{.*}} args(%[[B]] : memref<8xf32>, %[[A]] : memref<8xf32>)
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[A]]
  func.func @even(%a: memref<8xf32>, %b: memref<8xf32>) -> memref<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%x = %a, %y = %b) -> (memref<8xf32>, memref<8xf32>) {
      gpu.launch_func @m::@step blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %y : memref<8xf32>)
      scf.yield %y, %x : memref<8xf32>, memref<8xf32>
    }
    return %r#0 : memref<8xf32>
  }

  // A number of iterations that is only known at run time, and may be negative:
  // one is left over.
  // CHECK-LABEL: func.func @any(
  // CHECK: arith.maxsi
  // CHECK: scf.for
  // CHECK: gpu.launch_func
  // CHECK: gpu.launch_func
  // CHECK: scf.for {{.*}} iter_args
  // CHECK: gpu.launch_func
  func.func @any(%a: memref<8xf32>, %b: memref<8xf32>, %n: index) -> memref<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (memref<8xf32>, memref<8xf32>) {
      gpu.launch_func @m::@step blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %y : memref<8xf32>)
      scf.yield %y, %x : memref<8xf32>, memref<8xf32>
    }
    return %r#0 : memref<8xf32>
  }

  // Nothing changes its place.
  // CHECK-LABEL: func.func @same(
  // CHECK: scf.for {{.*}} step %c1
  // CHECK-COUNT-1: gpu.launch_func
  func.func @same(%a: memref<8xf32>, %b: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    scf.for %i = %c0 to %c6 step %c1 {
      gpu.launch_func @m::@step blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8xf32>, %b : memref<8xf32>)
    }
    return
  }
}
