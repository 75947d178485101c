// A matrix product, and the same in C++: the same bytes move.
// RUN: %build %s -o %t.mlir.exe
// RUN: %build -fno-dragon-staging %S/Inputs/product.cu -o %t.cu.exe
// RUN: %out-of-core DRAGON_STATS=%t.mlir.json DRAGON_DEVICE_MEMORY=8M %t.mlir.exe
// RUN: %out-of-core DRAGON_STATS=%t.cu.json DRAGON_DEVICE_MEMORY=8M %t.cu.exe
// RUN: %same-bytes %t.mlir.json %t.cu.json

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @product(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %inner: index) kernel {
      %row = gpu.global_id y
      %column = gpu.global_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %sum = scf.for %k = %c0 to %inner step %c1 iter_args(%s = %zero) -> f32 {
        %x = memref.load %a[%row, %k] : memref<?x?xf32>
        %y = memref.load %b[%k, %column] : memref<?x?xf32>
        %p = arith.mulf %x, %y : f32
        %q = arith.addf %s, %p : f32
        scf.yield %q : f32
      }
      memref.store %sum, %c[%row, %column] : memref<?x?xf32>
      gpu.return
    }
  }

  // a[i, j] = ((i + j) * times) % modulus
  func.func private @fill(%a: memref<?x?xf32>, %times: index, %modulus: index) {
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
        %f = arith.sitofp %z : i32 to f32
        memref.store %f, %a[%i, %j] : memref<?x?xf32>
      }
    }
    return
  }

  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c10 = arith.constant 10 : index
    %c32 = arith.constant 32 : index
    %rows = arith.constant 8192 : index
    %inner = arith.constant 128 : index
    %columns = arith.constant 256 : index
    %grid = arith.constant 1024 : index
    %ha = memref.alloc(%rows, %inner) : memref<?x?xf32>
    %hb = memref.alloc(%inner, %columns) : memref<?x?xf32>
    %hc = memref.alloc(%rows, %columns) : memref<?x?xf32>
    call @fill(%ha, %c7, %c10) : (memref<?x?xf32>, index, index) -> ()
    call @fill(%hb, %c3, %c10) : (memref<?x?xf32>, index, index) -> ()
    %a = gpu.alloc (%rows, %inner) : memref<?x?xf32>
    %b = gpu.alloc (%inner, %columns) : memref<?x?xf32>
    %c = gpu.alloc (%rows, %columns) : memref<?x?xf32>
    gpu.memcpy %a, %ha : memref<?x?xf32>, memref<?x?xf32>
    gpu.memcpy %b, %hb : memref<?x?xf32>, memref<?x?xf32>
    gpu.launch_func @kernels::@product blocks in (%c8, %grid, %c1) threads in (%c32, %c8, %c1) args(%a : memref<?x?xf32>, %b : memref<?x?xf32>, %c : memref<?x?xf32>, %inner : index)
    gpu.memcpy %hc, %c : memref<?x?xf32>, memref<?x?xf32>
    gpu.dealloc %a : memref<?x?xf32>
    gpu.dealloc %b : memref<?x?xf32>
    gpu.dealloc %c : memref<?x?xf32>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %zerof = arith.constant 0.0 : f32
    // Every 97th row.
    %c97 = arith.constant 97 : index
    %bad = scf.for %i = %c0 to %rows step %c97 iter_args(%before = %zero) -> i32 {
      %row = scf.for %j = %c0 to %columns step %c1 iter_args(%sofar = %before) -> i32 {
        %sum = scf.for %k = %c0 to %inner step %c1 iter_args(%s = %zerof) -> f32 {
          %x = memref.load %ha[%i, %k] : memref<?x?xf32>
          %y = memref.load %hb[%k, %j] : memref<?x?xf32>
          %p = arith.mulf %x, %y : f32
          %q = arith.addf %s, %p : f32
          scf.yield %q : f32
        }
        %r = memref.load %hc[%i, %j] : memref<?x?xf32>
        %differs = arith.cmpf une, %sum, %r : f32
        %next = arith.select %differs, %one, %sofar : i32
        scf.yield %next : i32
      }
      scf.yield %row : i32
    }
    memref.dealloc %ha : memref<?x?xf32>
    memref.dealloc %hb : memref<?x?xf32>
    memref.dealloc %hc : memref<?x?xf32>
    return %bad : i32
  }
}
