// The pipeline on what it made itself, and the same lowered: nothing is said or sliced twice.
// RUN: dragon-opt --dragon-pipeline=lowering=false --mlir-print-debuginfo %s -o %t.1.mlir
// RUN: dragon-opt --dragon-pipeline=lowering=false --mlir-print-debuginfo %t.1.mlir -o %t.2.mlir
// RUN: diff %t.1.mlir %t.2.mlir
// RUN: FileCheck %s < %t.2.mlir
// RUN: dragon-opt --dragon-pipeline %t.1.mlir -o %t.3.mlir
// RUN: dragon-opt --dragon-pipeline %s -o %t.4.mlir
// RUN: diff %t.3.mlir %t.4.mlir
// RUN: dragon-opt --dragon-pipeline --mlir-print-debuginfo %s -o %t.5.mlir
// RUN: dragon-opt --dragon-pipeline --mlir-print-debuginfo %t.5.mlir | FileCheck %s --check-prefix=LOWERED
// LOWERED-NOT: @__dragon_slice___dragon
// LOWERED-COUNT-2: llvm.call @cudaLaunchKernel(
// LOWERED-NOT: llvm.call @cudaLaunchKernel(

// What the program says itself stays: only what carries the mark is made anew.
// RUN: dragon-opt --dragon-kernel-access --dragon-insert-directives %t.1.mlir | FileCheck %s
// CHECK: gpu.func @copy({{.*}} slices "__dragon_slice_copy">
// CHECK: gpu.func @__dragon_slice_copy(
// CHECK-NOT: dragon.summary
// CHECK-NOT: @__dragon_slice___dragon
// CHECK-LABEL: func.func @steps
// CHECK: dragon.alloc(%{{.*}}) flags({{.*}}) device {dragon.inserted} : memref<?xf32>
// CHECK: dragon.alloc(%{{.*}}) flags({{.*}}) device {dragon.inserted} : memref<?xf32>
// CHECK: dragon.launch_follows {dragon.inserted}
// CHECK-NEXT: gpu.launch_func
// CHECK: dragon.discard {{%[a-z0-9_]*}} : memref<?xf32>
// CHECK-NOT: dragon.launch_follows
// CHECK: gpu.launch_func
// CHECK-NOT: gpu.launch_func

// Two outputs in one module: a renamed copy for slices is still its kernel's.
// RUN: dragon-opt --dragon-pipeline=lowering=false %s -o %t.6.mlir
// RUN: sed -e 's/@kernels/@others/' -e '/^module/d' -e '/func.func/,$d' %t.6.mlir > %t.others
// RUN: sed -e '/^module/r %t.others' %t.6.mlir > %t.both.mlir
// RUN: dragon-opt --dragon-unique-symbols %t.both.mlir | FileCheck %s --check-prefix=BOTH
// BOTH: gpu.func @copy({{.*}} slices "__dragon_slice_copy">
// BOTH: gpu.func @kernels_copy({{.*}} slices "kernels___dragon_slice_copy">
// BOTH: gpu.func @kernels___dragon_slice_copy(

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy(%a: memref<?xf32>, %b: memref<?xf32>, %n: index) kernel {
      %i = gpu.global_id x
      %in = arith.cmpi slt, %i, %n : index
      scf.if %in {
        %v = memref.load %a[%i] : memref<?xf32>
        memref.store %v, %b[%i] : memref<?xf32>
      }
      gpu.return
    }
  }
  func.func @steps(%h: memref<?xf32>, %n: index, %g: index) {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %a = gpu.alloc (%n) : memref<?xf32>
    %b = gpu.alloc (%n) : memref<?xf32>
    gpu.memcpy %a, %h : memref<?xf32>, memref<?xf32>
    gpu.launch_func @kernels::@copy blocks in (%g, %c1, %c1) threads in (%c256, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>, %n : index)
    dragon.discard %a : memref<?xf32>
    gpu.launch_func @kernels::@copy blocks in (%g, %c1, %c1) threads in (%c256, %c1, %c1) args(%b : memref<?xf32>, %a : memref<?xf32>, %n : index)
    gpu.memcpy %h, %a : memref<?xf32>, memref<?xf32>
    gpu.dealloc %a : memref<?xf32>
    gpu.dealloc %b : memref<?xf32>
    return
  }
}
