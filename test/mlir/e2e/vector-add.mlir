// Out of core in slices, with the summary that the access analysis finds.
// RUN: %build %s %S/Inputs/print.c -o %t
// RUN: %plain %t | FileCheck %s
// RUN: %tight DRAGON_STATS=%t.json %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// CHECK: 4194304 elements, sum 8388608
// STATS: "sliced_launches": {{[1-9]}}
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @add(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>, %n: index) kernel {
      %block = gpu.block_id x
      %threads = gpu.block_dim x
      %thread = gpu.thread_id x
      %begin = arith.muli %block, %threads : index
      %i = arith.addi %begin, %thread : index
      %inside = arith.cmpi slt, %i, %n : index
      scf.if %inside {
        %x = memref.load %a[%i] : memref<?xf32>
        %y = memref.load %b[%i] : memref<?xf32>
        %z = arith.addf %x, %y : f32
        memref.store %z, %c[%i] : memref<?xf32>
      }
      gpu.return
    }
  }
  func.func private @print(memref<?xf32>)
  func.func @main() {
    %n = arith.constant 4194304 : index
    %c1 = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %blocks = arith.ceildivsi %n, %threads : index
    %half = arith.constant 0.5 : f32
    %more = arith.constant 1.5 : f32
    %a = gpu.alloc (%n) : memref<?xf32>
    %b = gpu.alloc (%n) : memref<?xf32>
    %c = gpu.alloc (%n) : memref<?xf32>
    gpu.memset %a, %half : memref<?xf32>, f32
    gpu.memset %b, %more : memref<?xf32>, f32
    gpu.launch_func @kernels::@add blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%a : memref<?xf32>, %b : memref<?xf32>, %c : memref<?xf32>, %n : index)
    %h = memref.alloc(%n) : memref<?xf32>
    gpu.memcpy %h, %c : memref<?xf32>, memref<?xf32>
    gpu.dealloc %a : memref<?xf32>
    gpu.dealloc %b : memref<?xf32>
    gpu.dealloc %c : memref<?xf32>
    func.call @print(%h) : (memref<?xf32>) -> ()
    memref.dealloc %h : memref<?xf32>
    return
  }
}
