// Buffers that are chosen: by a condition (arith.select), by branches (scf.if), and one that is seen transposed; kernels that call a
// function which is not inlined. The same in C++: the same bytes move, and the launches run together.
// RUN: %build %s -o %t.mlir.exe
// RUN: %build -fno-dragon-staging %S/Inputs/choices.cu -o %t.cu.exe
// RUN: %out-of-core DRAGON_STATS=%t.mlir.json DRAGON_DEVICE_MEMORY=6M %t.mlir.exe
// RUN: %out-of-core DRAGON_STATS=%t.cu.json DRAGON_DEVICE_MEMORY=6M %t.cu.exe
// RUN: %same-bytes %t.mlir.json %t.cu.json
// RUN: FileCheck %s < %t.mlir.json
// CHECK: "launches_together": {{[1-9]}}

module attributes {gpu.container_module} {
  gpu.module @kernels {
    func.func private @raise(%a: memref<4194304xf32>, %i: index) attributes {no_inline} {
      %one = arith.constant 1.0 : f32
      %x = memref.load %a[%i] : memref<4194304xf32>
      %y = arith.addf %x, %one : f32
      memref.store %y, %a[%i] : memref<4194304xf32>
      return
    }
    gpu.func @step(%a: memref<4194304xf32>) kernel {
      %i = gpu.global_id x
      func.call @raise(%a, %i) : (memref<4194304xf32>, index) -> ()
      gpu.return
    }
    // Each element of the transposed matrix is its row's number.
    gpu.func @rows(%a: memref<2048x2048xf32, strided<[1, 2048]>>) kernel {
      %i = gpu.global_id x
      %j = gpu.global_id y
      %n = arith.index_cast %j : index to i32
      %f = arith.sitofp %n : i32 to f32
      memref.store %f, %a[%i, %j] : memref<2048x2048xf32, strided<[1, 2048]>>
      gpu.return
    }
  }
  func.func private @twice(%a: memref<4194304xf32>) {
    %c1 = arith.constant 1 : index
    %blocks = arith.constant 16384 : index
    %threads = arith.constant 256 : index
    gpu.launch_func @kernels::@step blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<4194304xf32>)
    gpu.launch_func @kernels::@step blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<4194304xf32>)
    return
  }
  func.func private @yes() -> i1 attributes {no_inline} {
    %yes = arith.constant true
    return %yes : i1
  }
  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %c8 = arith.constant 8 : index
    %blocks = arith.constant 16384 : index
    %threads = arith.constant 256 : index
    %n = arith.constant 4194304 : index
    %zero = arith.constant 0 : i32
    %two = arith.constant 2.0 : f32
    %four = arith.constant 4.0 : f32
    %h = memref.alloc() : memref<4194304xf32>
    scf.for %i = %c0 to %n step %c1 {
      memref.store %two, %h[%i] : memref<4194304xf32>
    }
    %a = gpu.alloc () : memref<4194304xf32>
    %b = gpu.alloc () : memref<4194304xf32>
    %c = gpu.alloc () : memref<2048x2048xf32>
    gpu.memcpy %a, %h : memref<4194304xf32>, memref<4194304xf32>
    gpu.memcpy %b, %h : memref<4194304xf32>, memref<4194304xf32>
    %first = func.call @yes() : () -> i1
    %x = arith.select %first, %a, %b : memref<4194304xf32>
    %y = scf.if %first -> memref<4194304xf32> {
      scf.yield %b : memref<4194304xf32>
    } else {
      scf.yield %a : memref<4194304xf32>
    }
    gpu.launch_func @kernels::@step blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1) args(%x : memref<4194304xf32>)
    gpu.launch_func @kernels::@step blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1) args(%x : memref<4194304xf32>)
    gpu.launch_func @kernels::@step blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1) args(%y : memref<4194304xf32>)
    func.call @twice(%y) : (memref<4194304xf32>) -> ()
    %t = memref.transpose %c (i, j) -> (j, i) : memref<2048x2048xf32> to memref<2048x2048xf32, strided<[1, 2048]>>
    gpu.launch_func @kernels::@rows blocks in (%c64, %c256, %c1) threads in (%c32, %c8, %c1) args(%t : memref<2048x2048xf32, strided<[1, 2048]>>)
    gpu.memcpy %h, %x : memref<4194304xf32>, memref<4194304xf32>
    %fromX = func.call @count(%h, %four) : (memref<4194304xf32>, f32) -> i32
    %five = arith.constant 5.0 : f32
    gpu.memcpy %h, %y : memref<4194304xf32>, memref<4194304xf32>
    %fromY = func.call @count(%h, %five) : (memref<4194304xf32>, f32) -> i32
    %square = memref.expand_shape %h [[0, 1]] output_shape [2048, 2048] : memref<4194304xf32> into memref<2048x2048xf32>
    gpu.memcpy %square, %c : memref<2048x2048xf32>, memref<2048x2048xf32>
    gpu.dealloc %a : memref<4194304xf32>
    gpu.dealloc %b : memref<4194304xf32>
    gpu.dealloc %c : memref<2048x2048xf32>
    %row = memref.load %square[%c8, %c1] : memref<2048x2048xf32>
    %eight = arith.constant 8.0 : f32
    %differs = arith.cmpf une, %row, %eight : f32
    %fromC = arith.extui %differs : i1 to i32
    %xy = arith.addi %fromX, %fromY : i32
    %bad = arith.addi %xy, %fromC : i32
    %wrong = arith.cmpi ne, %bad, %zero : i32
    %result = arith.extui %wrong : i1 to i32
    memref.dealloc %h : memref<4194304xf32>
    return %result : i32
  }
  // How many are something else.
  func.func private @count(%h: memref<4194304xf32>, %value: f32) -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4194304 : index
    %zero = arith.constant 0 : i32
    %bad = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
      %v = memref.load %h[%i] : memref<4194304xf32>
      %differs = arith.cmpf une, %v, %value : f32
      %one = arith.extui %differs : i1 to i32
      %next = arith.addi %sum, %one : i32
      scf.yield %next : i32
    }
    return %bad : i32
  }
}
