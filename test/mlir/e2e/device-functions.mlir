// Functions of libdevice, shared memory of both kinds, barriers, a function of
// the kernels' module, and gpu.launch.
// RUN: %build %s %S/Inputs/print.c -o %t
// RUN: %plain %t | FileCheck %s
// RUN: %tight %t | FileCheck %s
// CHECK: 1048576 elements, sum 5767168
module attributes {gpu.container_module} {
  gpu.module @kernels {
    func.func private @twice(%x: f32) -> f32 {
      %y = arith.addf %x, %x : f32
      return %y : f32
    }
    // a[i] = 2 * sqrt(a[i]) + exp(0), of the block's other end
    gpu.func @turn(%a: memref<?xf32>) workgroup(%whole: memref<256xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %last = arith.constant 255 : index
      %zero = arith.constant 0.0 : f32
      %i = gpu.global_id x
      %t = gpu.thread_id x
      %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %own = memref.view %bytes[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<256xf32, #gpu.address_space<workgroup>>
      %x = memref.load %a[%i] : memref<?xf32>
      %root = math.sqrt %x : f32
      memref.store %root, %whole[%t] : memref<256xf32, #gpu.address_space<workgroup>>
      %one = math.exp %zero : f32
      memref.store %one, %own[%t] : memref<256xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %other = arith.subi %last, %t : index
      %y = memref.load %whole[%other] : memref<256xf32, #gpu.address_space<workgroup>>
      %z = memref.load %own[%other] : memref<256xf32, #gpu.address_space<workgroup>>
      %two = func.call @twice(%y) : (f32) -> f32
      %sum = arith.addf %two, %z : f32
      memref.store %sum, %a[%i] : memref<?xf32>
      gpu.return
    }
  }
  func.func private @print(memref<?xf32>)
  func.func @main() {
    %n = arith.constant 1048576 : index
    %c1 = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %blocks = arith.ceildivsi %n, %threads : index
    %shared = arith.constant 1024 : i32
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %h = memref.alloc(%n) : memref<?xf32>
    %a = gpu.alloc (%n) : memref<?xf32>
    gpu.memset %a, %four : memref<?xf32>, f32
    gpu.launch_func @kernels::@turn blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        dynamic_shared_memory_size %shared args(%a : memref<?xf32>)
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
      %begin = arith.muli %bx, %sx : index
      %i = arith.addi %begin, %tx : index
      %x = memref.load %a[%i] : memref<?xf32>
      %y = arith.addf %x, %half : f32
      memref.store %y, %a[%i] : memref<?xf32>
      gpu.terminator
    }
    gpu.memcpy %h, %a : memref<?xf32>, memref<?xf32>
    gpu.dealloc %a : memref<?xf32>
    func.call @print(%h) : (memref<?xf32>) -> ()
    return
  }
}
