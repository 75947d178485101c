// What is printed can be read, and says the same.
// RUN: dragon-opt %s | dragon-opt | FileCheck %s
// RUN: dragon-opt --mlir-print-op-generic %s | dragon-opt | FileCheck %s
// RUN: dragon-opt --emit-bytecode %s | dragon-opt | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%a: memref<?xf32>, %n: index) kernel { gpu.return }
  }

  // CHECK-LABEL: func.func @files
  // CHECK: dragon.map "a.bin" flags(read) : memref<1024xf32>
  // CHECK: dragon.map "b.bin" offset %{{.*}} : i64 (%{{.*}}) flags(write|create) : memref<?x4xf32>
  // CHECK: dragon.map "c.bin" offset %{{.*}} : index flags(read|volatile) : memref<4xi8>
  // CHECK: dragon.sync %{{.*}} : memref<?x4xf32>
  // CHECK: dragon.unmap %{{.*}} : memref<?x4xf32>
  func.func @files(%n: index, %o: i64) {
    %a = dragon.map "a.bin" flags(read) : memref<1024xf32>
    %b = dragon.map "b.bin" offset %o : i64 (%n) flags(write|create) : memref<?x4xf32>
    %c = dragon.map "c.bin" offset %n : index flags(read|volatile) : memref<4xi8>
    dragon.sync %b : memref<?x4xf32>
    dragon.unmap %b : memref<?x4xf32>
    return
  }

  // CHECK-LABEL: func.func @buffers
  // CHECK: dragon.alloc : memref<4xf32>
  // CHECK: dragon.alloc(%{{.*}}) flags(volatile) : memref<?xf32>
  // CHECK: dragon.alloc flags(read) device : memref<4xf32>
  // CHECK: dragon.prefetch %{{.*}} : memref<?xf32>
  // CHECK: dragon.prefetch %{{.*}} bytes %{{.*}} : index : memref<?xf32>
  // CHECK: dragon.discard %{{.*}} : memref<?xf32>
  // CHECK: dragon.discard eager %{{.*}} bytes %{{.*}} : i64 after %{{.*}} : memref<?xf32>
  // CHECK: dragon.last_use %{{.*}} : memref<?xf32>
  // CHECK: dragon.next_use %{{.*}} in 3 : memref<?xf32>
  // CHECK: dragon.next_use %{{.*}} never : memref<?xf32>
  // CHECK: dragon.launch_follows
  // CHECK: dragon.overwritten @kernels::@k operand 0 blocks in (%{{.*}}) threads in (%{{.*}}) args(%{{.*}} : memref<?xf32>, index)
  // CHECK: dragon.free %{{.*}} : memref<?xf32>
  func.func @buffers(%n: index, %m: i64) {
    %a = dragon.alloc : memref<4xf32>
    %b = dragon.alloc (%n) flags(volatile) : memref<?xf32>
    %d = dragon.alloc flags(read) device : memref<4xf32>
    dragon.prefetch %b : memref<?xf32>
    dragon.prefetch %b bytes %n : index : memref<?xf32>
    dragon.discard %b : memref<?xf32>
    %t = gpu.wait async
    dragon.discard eager %b bytes %m : i64 after %t : memref<?xf32>
    dragon.last_use %b : memref<?xf32>
    dragon.next_use %b in 3 : memref<?xf32>
    dragon.next_use %b never : memref<?xf32>
    dragon.launch_follows
    %bytes = dragon.overwritten @kernels::@k operand 0 blocks in (%n, %n, %n) threads in (%n, %n, %n)
        args(%b, %n : memref<?xf32>, index)
    dragon.free %b : memref<?xf32>
    return
  }
}
