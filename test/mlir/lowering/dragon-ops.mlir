// RUN: dragon-opt --convert-dragon-to-llvm %s | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%a: memref<?xf32>, %b: memref<?xf32>, %n: index) kernel { gpu.return }
  }

  // CHECK-DAG: llvm.mlir.global internal constant @[[FILE:.*]]("a.bin\00")
  // CHECK-DAG: llvm.mlir.global internal constant @[[NAME:.*]]("weights\00")
  // CHECK-DAG: llvm.mlir.global internal constant @[[PLACE:.*]]("net.py\00")

  // CHECK-LABEL: llvm.func @files
  // CHECK: %[[PATH:.*]] = llvm.mlir.addressof @[[FILE]]
  // CHECK: %[[FLAGS:.*]] = llvm.mlir.constant(6 : i32) : i32
  // CHECK: llvm.call @dragon_map_file(%[[PATH]], %{{.*}}, %{{.*}}, %[[FLAGS]], %{{.*}}) : (!llvm.ptr, i64, i64, i32, !llvm.ptr) -> i32
  // CHECK: llvm.call @__dragon_require
  // CHECK: llvm.call @dragon_prefetch
  // CHECK: llvm.call @dragon_sync
  // CHECK: llvm.call @dragon_unmap_file
  func.func @files(%n: index, %o: i64) {
    %m = dragon.map "a.bin" offset %o : i64 (%n) flags(write|create) : memref<?xf32>
    dragon.prefetch %m : memref<?xf32>
    dragon.sync %m : memref<?xf32>
    dragon.unmap %m : memref<?xf32>
    return
  }

  // CHECK-LABEL: llvm.func @named
  // CHECK: %[[FLAGS:.*]] = llvm.mlir.constant(16 : i32) : i32
  // CHECK: llvm.call @__dragon_malloc(%{{.*}}, %{{.*}}, %[[FLAGS]], %{{.*}})
  // CHECK: llvm.call @cudaFree
  func.func @named(%n: index) {
    %a = dragon.alloc (%n) flags(volatile) : memref<?xf32> loc("weights"("net.py":7:3))
    dragon.free %a : memref<?xf32>
    return
  }

  // The host reads it: as managed memory.
  // CHECK-LABEL: llvm.func @shared
  // CHECK: %[[FLAGS:.*]] = llvm.mlir.constant(256 : i32) : i32
  // CHECK: llvm.call @__dragon_malloc(%{{.*}}, %{{.*}}, %[[FLAGS]], %{{.*}})
  func.func @shared(%n: index) -> f32 {
    %a = dragon.alloc (%n) : memref<?xf32>
    %x = memref.load %a[%n] : memref<?xf32>
    return %x : f32
  }

  // CHECK-LABEL: llvm.func @hints
  // CHECK: %[[ALL:.*]] = llvm.mlir.constant(-1 : i64) : i64
  // CHECK: llvm.call @__dragon_discard(%{{.*}}, %[[ALL]], %{{.*}})
  // CHECK: llvm.call @__dragon_discard_eagerly
  // CHECK: llvm.call @__dragon_last_use(
  // CHECK: llvm.call @__dragon_last_use_eagerly
  // CHECK: %[[SOON:.*]] = llvm.mlir.constant(2 : i32) : i32
  // CHECK: llvm.call @__dragon_next_use(%{{.*}}, %[[SOON]])
  // CHECK: %[[NEVER:.*]] = llvm.mlir.constant(-1 : i32) : i32
  // CHECK: llvm.call @__dragon_next_use(%{{.*}}, %[[NEVER]])
  // CHECK: llvm.call @__dragon_launch_follows()
  func.func @hints(%a: memref<?xf32>, %n: index) {
    dragon.discard %a : memref<?xf32>
    dragon.discard eager %a bytes %n : index : memref<?xf32>
    dragon.last_use %a : memref<?xf32>
    dragon.last_use eager %a bytes %n : index : memref<?xf32>
    dragon.next_use %a in 2 : memref<?xf32>
    dragon.next_use %a never : memref<?xf32>
    dragon.launch_follows
    return
  }

  // The operation is about the buffer's beginning, not about the allocation's.
  // CHECK-LABEL: llvm.func @part
  // CHECK: %[[ALIGNED:.*]] = llvm.extractvalue %{{.*}}[1]
  // CHECK: %[[OFFSET:.*]] = llvm.extractvalue %{{.*}}[2]
  // CHECK: %[[BEGIN:.*]] = llvm.getelementptr{{.*}} %[[ALIGNED]][%[[OFFSET]]]
  // CHECK: llvm.call @__dragon_discard(%[[BEGIN]],
  func.func @part(%a: memref<8xf32, strided<[1], offset: ?>>) {
    dragon.discard %a : memref<8xf32, strided<[1], offset: ?>>
    return
  }

  // Of the other memref, nothing but the sizes.
  // CHECK-LABEL: llvm.func @overwritten
  // CHECK-COUNT-2: llvm.mlir.zero
  // CHECK: llvm.mlir.addressof @__device_stub__k
  // CHECK: %[[BYTES:.*]] = llvm.call @__dragon_overwritten
  // CHECK: llvm.return %[[BYTES]]
  func.func @overwritten(%a: memref<?xf32>, %b: memref<?xf32>, %n: index) -> i64 {
    %c1 = arith.constant 1 : index
    %bytes = dragon.overwritten @kernels::@k operand 1 blocks in (%n, %c1, %c1) threads in (%n, %c1, %c1)
        args(%a, %b, %n : memref<?xf32>, memref<?xf32>, index)
    return %bytes : i64
  }
}
