// Kernels in whose module nothing is an intrinsic, not even an id: what travels as bytecode keeps them.
// RUN: %build %s -o %t
// RUN: %plain %t
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%a: memref<1024xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 1024 : index
      %f = arith.constant 1.0 : f32
      scf.for %i = %c0 to %n step %c1 {
        memref.store %f, %a[%i] : memref<1024xf32>
      }
      gpu.return
    }
  }
  func.func @main() -> i32 {
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %h = memref.alloc() : memref<1024xf32>
    %a = gpu.alloc () : memref<1024xf32>
    gpu.launch_func @kernels::@fill blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<1024xf32>)
    gpu.memcpy %h, %a : memref<1024xf32>, memref<1024xf32>
    gpu.dealloc %a : memref<1024xf32>
    %x = memref.load %h[%c5] : memref<1024xf32>
    %one = arith.constant 1.0 : f32
    %bad = arith.cmpf une, %x, %one : f32
    %r = arith.extui %bad : i1 to i32
    return %r : i32
  }
}
