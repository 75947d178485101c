// Transfers of vectors, some beyond the memref's end, and reductions of a subgroup.
// RUN: %build %s %S/Inputs/print.c -o %t
// RUN: %plain %t | FileCheck %s
// RUN: %tight %t | FileCheck %s
// Each thread's sum of itself and the next three, which end at the memref's: 4 + ... + 4 + 3 + 2 + 1, summed by 32 of them.
// CHECK: 1048576 elements, sum 134217536
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sums(%a: memref<?xf32>, %b: memref<?xf32>) kernel {
      %zero = arith.constant 0.0 : f32
      %i = gpu.global_id x
      %v = vector.transfer_read %a[%i], %zero : memref<?xf32>, vector<4xf32>
      %s = vector.reduction <add>, %v : vector<4xf32> into f32
      %sum = gpu.subgroup_reduce add %s : (f32) -> f32
      memref.store %sum, %b[%i] : memref<?xf32>
      gpu.return
    }
  }
  func.func private @print(memref<?xf32>)
  func.func @main() {
    %n = arith.constant 1048576 : index
    %c1 = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %blocks = arith.ceildivsi %n, %threads : index
    %one = arith.constant 1.0 : f32
    %h = memref.alloc(%n) : memref<?xf32>
    %a = gpu.alloc (%n) : memref<?xf32>
    %b = gpu.alloc (%n) : memref<?xf32>
    gpu.memset %a, %one : memref<?xf32>, f32
    gpu.launch_func @kernels::@sums blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%a : memref<?xf32>, %b : memref<?xf32>)
    gpu.memcpy %h, %b : memref<?xf32>, memref<?xf32>
    gpu.dealloc %a : memref<?xf32>
    gpu.dealloc %b : memref<?xf32>
    func.call @print(%h) : (memref<?xf32>) -> ()
    return
  }
}
