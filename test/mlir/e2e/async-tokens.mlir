// Two chains of launches join, and go on as one: results are those of the
// order that the tokens say.
// RUN: %build %s %S/Inputs/print.c -o %t
// RUN: %plain %t | FileCheck %s
// RUN: %tight %t | FileCheck %s
// CHECK: 1048576 elements, sum 20971520
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // a = a * s + t
    gpu.func @scale(%a: memref<?xf32>, %s: f32, %t: f32) kernel {
      %i = gpu.global_id x
      %x = memref.load %a[%i] : memref<?xf32>
      %y = arith.mulf %x, %s : f32
      %z = arith.addf %y, %t : f32
      memref.store %z, %a[%i] : memref<?xf32>
      gpu.return
    }
    gpu.func @add(%a: memref<?xf32>, %b: memref<?xf32>) kernel {
      %i = gpu.global_id x
      %x = memref.load %a[%i] : memref<?xf32>
      %y = memref.load %b[%i] : memref<?xf32>
      %z = arith.addf %x, %y : f32
      memref.store %z, %a[%i] : memref<?xf32>
      gpu.return
    }
  }
  func.func private @print(memref<?xf32>)
  func.func @main() {
    %n = arith.constant 1048576 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %threads = arith.constant 256 : index
    %blocks = arith.ceildivsi %n, %threads : index
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %h = memref.alloc(%n) : memref<?xf32>
    %begin = gpu.wait async
    %a, %t0 = gpu.alloc async [%begin] (%n) : memref<?xf32>
    %t1 = gpu.memset async [%t0] %a, %one : memref<?xf32>, f32
    // ((1 * 2 + 1) * 2 + 1) * 2 + 1 = 15
    %t2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %t1) -> !gpu.async.token {
      %next = gpu.launch_func async [%t] @kernels::@scale blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
          args(%a : memref<?xf32>, %two : f32, %one : f32)
      scf.yield %next : !gpu.async.token
    }
    %other = gpu.wait async
    %b, %s0 = gpu.alloc async [%other] (%n) : memref<?xf32>
    %s1 = gpu.memset async [%s0] %b, %two : memref<?xf32>, f32
    // 2 * 2 + 1 = 5
    %s2 = gpu.launch_func async [%s1] @kernels::@scale blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%b : memref<?xf32>, %two : f32, %one : f32)
    %t3 = gpu.launch_func async [%t2, %s2] @kernels::@add blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%a : memref<?xf32>, %b : memref<?xf32>)
    %t4 = gpu.memcpy async [%t3] %h, %a : memref<?xf32>, memref<?xf32>
    gpu.wait [%t4]
    gpu.dealloc %a : memref<?xf32>
    gpu.dealloc %b : memref<?xf32>
    func.call @print(%h) : (memref<?xf32>) -> ()
    return
  }
}
