// Two layers of a network, and the same in C++: the same bytes move.
// RUN: %build %s -o %t.mlir.exe
// RUN: %build -fno-dragon-staging %S/Inputs/layers.cu -o %t.cu.exe
// RUN: %out-of-core DRAGON_STATS=%t.mlir.json DRAGON_DEVICE_MEMORY=8M %t.mlir.exe
// RUN: %out-of-core DRAGON_STATS=%t.cu.json DRAGON_DEVICE_MEMORY=8M %t.cu.exe
// RUN: %same-bytes %t.mlir.json %t.cu.json

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // out = relu(in * weights + bias), row by row
    gpu.func @layer(%in: memref<?x?xf32>, %weights: memref<?x?xf32>, %bias: memref<?xf32>, %out: memref<?x?xf32>, %inner: index) kernel {
      %row = gpu.global_id y
      %column = gpu.global_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %first = memref.load %bias[%column] : memref<?xf32>
      %sum = scf.for %k = %c0 to %inner step %c1 iter_args(%s = %first) -> f32 {
        %x = memref.load %in[%row, %k] : memref<?x?xf32>
        %y = memref.load %weights[%k, %column] : memref<?x?xf32>
        %p = arith.mulf %x, %y : f32
        %q = arith.addf %s, %p : f32
        scf.yield %q : f32
      }
      %r = arith.maximumf %sum, %zero : f32
      memref.store %r, %out[%row, %column] : memref<?x?xf32>
      gpu.return
    }
  }

  // a[i, j] = ((i + j) * times) % modulus - less
  func.func private @fill(%a: memref<?x?xf32>, %times: index, %modulus: index, %less: i32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = memref.dim %a, %c0 : memref<?x?xf32>
    %columns = memref.dim %a, %c1 : memref<?x?xf32>
    scf.for %i = %c0 to %rows step %c1 {
      scf.for %j = %c0 to %columns step %c1 {
        %s = arith.addi %i, %j : index
        %x = arith.muli %s, %times : index
        %y = arith.remui %x, %modulus : index
        %z = arith.index_cast %y : index to i32
        %d = arith.subi %z, %less : i32
        %f = arith.sitofp %d : i32 to f32
        memref.store %f, %a[%i, %j] : memref<?x?xf32>
      }
    }
    return
  }

  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c10 = arith.constant 10 : index
    %c32 = arith.constant 32 : index
    %less = arith.constant 4 : i32
    %rows = arith.constant 16384 : index
    %inputs = arith.constant 64 : index
    %hidden = arith.constant 64 : index
    %outputs = arith.constant 32 : index
    %grid = arith.constant 2048 : index
    %hx = memref.alloc(%rows, %inputs) : memref<?x?xf32>
    %hw1 = memref.alloc(%inputs, %hidden) : memref<?x?xf32>
    %hw2 = memref.alloc(%hidden, %outputs) : memref<?x?xf32>
    %hb1 = memref.alloc(%c1, %hidden) : memref<?x?xf32>
    %hb2 = memref.alloc(%c1, %outputs) : memref<?x?xf32>
    %hy = memref.alloc(%rows, %outputs) : memref<?x?xf32>
    call @fill(%hx, %c7, %c10, %less) : (memref<?x?xf32>, index, index, i32) -> ()
    call @fill(%hw1, %c3, %c8, %less) : (memref<?x?xf32>, index, index, i32) -> ()
    call @fill(%hw2, %c3, %c7, %less) : (memref<?x?xf32>, index, index, i32) -> ()
    call @fill(%hb1, %c1, %c3, %less) : (memref<?x?xf32>, index, index, i32) -> ()
    call @fill(%hb2, %c1, %c2, %less) : (memref<?x?xf32>, index, index, i32) -> ()
    %hb1flat = memref.collapse_shape %hb1 [[0, 1]] : memref<?x?xf32> into memref<?xf32>
    %hb2flat = memref.collapse_shape %hb2 [[0, 1]] : memref<?x?xf32> into memref<?xf32>
    %x = gpu.alloc (%rows, %inputs) : memref<?x?xf32>
    %w1 = gpu.alloc (%inputs, %hidden) : memref<?x?xf32>
    %w2 = gpu.alloc (%hidden, %outputs) : memref<?x?xf32>
    %b1 = gpu.alloc (%hidden) : memref<?xf32>
    %b2 = gpu.alloc (%outputs) : memref<?xf32>
    %h = gpu.alloc (%rows, %hidden) : memref<?x?xf32>
    %y = gpu.alloc (%rows, %outputs) : memref<?x?xf32>
    gpu.memcpy %x, %hx : memref<?x?xf32>, memref<?x?xf32>
    gpu.memcpy %w1, %hw1 : memref<?x?xf32>, memref<?x?xf32>
    gpu.memcpy %w2, %hw2 : memref<?x?xf32>, memref<?x?xf32>
    gpu.memcpy %b1, %hb1flat : memref<?xf32>, memref<?xf32>
    gpu.memcpy %b2, %hb2flat : memref<?xf32>, memref<?xf32>
    gpu.launch_func @kernels::@layer blocks in (%c2, %grid, %c1) threads in (%c32, %c8, %c1) args(%x : memref<?x?xf32>, %w1 : memref<?x?xf32>, %b1 : memref<?xf32>, %h : memref<?x?xf32>, %inputs : index)
    gpu.launch_func @kernels::@layer blocks in (%c1, %grid, %c1) threads in (%c32, %c8, %c1) args(%h : memref<?x?xf32>, %w2 : memref<?x?xf32>, %b2 : memref<?xf32>, %y : memref<?x?xf32>, %hidden : index)
    gpu.memcpy %hy, %y : memref<?x?xf32>, memref<?x?xf32>
    gpu.dealloc %x : memref<?x?xf32>
    gpu.dealloc %w1 : memref<?x?xf32>
    gpu.dealloc %w2 : memref<?x?xf32>
    gpu.dealloc %b1 : memref<?xf32>
    gpu.dealloc %b2 : memref<?xf32>
    gpu.dealloc %h : memref<?x?xf32>
    gpu.dealloc %y : memref<?x?xf32>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %zerof = arith.constant 0.0 : f32
    %c97 = arith.constant 97 : index
    %t = memref.alloc(%hidden) : memref<?xf32>
    %bad = scf.for %i = %c0 to %rows step %c97 iter_args(%before = %zero) -> i32 {
      scf.for %j = %c0 to %hidden step %c1 {
        %first = memref.load %hb1flat[%j] : memref<?xf32>
        %sum = scf.for %k = %c0 to %inputs step %c1 iter_args(%s = %first) -> f32 {
          %0 = memref.load %hx[%i, %k] : memref<?x?xf32>
          %1 = memref.load %hw1[%k, %j] : memref<?x?xf32>
          %p = arith.mulf %0, %1 : f32
          %q = arith.addf %s, %p : f32
          scf.yield %q : f32
        }
        %r = arith.maximumf %sum, %zerof : f32
        memref.store %r, %t[%j] : memref<?xf32>
      }
      %row = scf.for %j = %c0 to %outputs step %c1 iter_args(%sofar = %before) -> i32 {
        %first = memref.load %hb2flat[%j] : memref<?xf32>
        %sum = scf.for %k = %c0 to %hidden step %c1 iter_args(%s = %first) -> f32 {
          %0 = memref.load %t[%k] : memref<?xf32>
          %1 = memref.load %hw2[%k, %j] : memref<?x?xf32>
          %p = arith.mulf %0, %1 : f32
          %q = arith.addf %s, %p : f32
          scf.yield %q : f32
        }
        %r = arith.maximumf %sum, %zerof : f32
        %v = memref.load %hy[%i, %j] : memref<?x?xf32>
        %differs = arith.cmpf une, %r, %v : f32
        %next = arith.select %differs, %one, %sofar : i32
        scf.yield %next : i32
      }
      scf.yield %row : i32
    }
    memref.dealloc %t : memref<?xf32>
    return %bad : i32
  }
}
