// Clones of kernels that run a part of a grid.
// RUN: dragon-opt --dragon-kernel-access --dragon-slice-kernels %s | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @fill(
  // CHECK-SAME: <sliceable|slice_clone|buffers_only {{.*}} slices "__dragon_slice_fill">
  // CHECK-LABEL: gpu.func @__dragon_slice_fill(
  // CHECK-SAME: %{{[^:]*}}: memref<?xi32>, %[[X:[^:]*]]: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %[[GX:[^:]*]]: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32) kernel {
  // CHECK: %[[B:.*]] = gpu.block_id x
  // CHECK-NEXT: %[[O:.*]] = arith.index_castui %[[X]] : i32 to index
  // CHECK-NEXT: %[[AT:.*]] = arith.addi %[[B]], %[[O]] : index
  // CHECK-NEXT: %[[G:.*]] = arith.index_castui %[[GX]] : i32 to index
  // CHECK-NEXT: arith.muli %[[AT]], %[[G]]
  // CHECK: %[[ID:.*]] = gpu.global_id x
  // CHECK-NEXT: %[[O2:.*]] = arith.index_castui %[[X]]
  // CHECK-NEXT: %[[D:.*]] = gpu.block_dim x
  // CHECK-NEXT: %[[M:.*]] = arith.muli %[[O2]], %[[D]]
  // CHECK-NEXT: arith.addi %[[ID]], %[[M]]
  gpu.func @fill(%a: memref<?xi32>) kernel attributes {known_grid_size = array<i32: 64, 1, 1>} {
    %b = gpu.block_id x
    %g = gpu.grid_dim x
    %p = arith.muli %b, %g : index
    %i = gpu.global_id x
    %v = arith.index_cast %p : index to i32
    memref.store %v, %a[%i] : memref<?xi32>
    gpu.return
  }

  // It runs slices as it is.
  // CHECK-LABEL: gpu.func @single(
  // CHECK-SAME: <sliceable|buffers_only arguments
  // CHECK-NOT: __dragon_slice_single
  gpu.func @single(%a: memref<?xi32>) kernel {
    %t = gpu.thread_id x
    %v = arith.index_cast %t : index to i32
    memref.store %v, %a[%t] : memref<?xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @cluster(
  // CHECK-SAME: unsliceable "it asks for its position in a cluster"
  // CHECK-NOT: __dragon_slice_cluster
  gpu.func @cluster(%a: memref<?xi32>) kernel {
    %t = gpu.cluster_id x
    %b = gpu.block_id x
    %v = arith.index_cast %b : index to i32
    memref.store %v, %a[%t] : memref<?xi32>
    gpu.return
  }
}
