// A FIR filter, and the same in C++: the same bytes move.
// RUN: %build %s -o %t.mlir.exe
// RUN: %build -fno-dragon-staging %S/Inputs/fir.cu -o %t.cu.exe
// RUN: %out-of-core DRAGON_STATS=%t.mlir.json DRAGON_DEVICE_MEMORY=8M %t.mlir.exe
// RUN: %out-of-core DRAGON_STATS=%t.cu.json DRAGON_DEVICE_MEMORY=8M %t.cu.exe
// RUN: %same-bytes %t.mlir.json %t.cu.json

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fir(%x: memref<?xf32>, %h: memref<?xf32>, %y: memref<?xf32>, %n: index, %taps: index) kernel {
      %i = gpu.global_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %in = arith.cmpi slt, %i, %n : index
      scf.if %in {
        %sum = scf.for %k = %c0 to %taps step %c1 iter_args(%s = %zero) -> f32 {
          %j = arith.addi %i, %k : index
          %a = memref.load %x[%j] : memref<?xf32>
          %b = memref.load %h[%k] : memref<?xf32>
          %p = arith.mulf %a, %b : f32
          %q = arith.addf %s, %p : f32
          scf.yield %q : f32
        }
        memref.store %sum, %y[%i] : memref<?xf32>
      }
      gpu.return
    }
  }

  // a[i] = (i * times) % modulus
  func.func private @fill(%a: memref<?xf32>, %times: index, %modulus: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %a, %c0 : memref<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      %x = arith.muli %i, %times : index
      %y = arith.remui %x, %modulus : index
      %z = arith.index_cast %y : index to i32
      %f = arith.sitofp %z : i32 to f32
      memref.store %f, %a[%i] : memref<?xf32>
    }
    return
  }

  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %c10 = arith.constant 10 : index
    %c100 = arith.constant 100 : index
    %taps = arith.constant 16 : index
    %c256 = arith.constant 256 : index
    %n = arith.constant 2097152 : index
    %m = arith.constant 2097168 : index
    %grid = arith.constant 8192 : index
    %hx = memref.alloc(%m) : memref<?xf32>
    %hh = memref.alloc(%taps) : memref<?xf32>
    %hy = memref.alloc(%n) : memref<?xf32>
    call @fill(%hx, %c7, %c100) : (memref<?xf32>, index, index) -> ()
    call @fill(%hh, %c3, %c10) : (memref<?xf32>, index, index) -> ()
    %x = gpu.alloc (%m) : memref<?xf32>
    %h = gpu.alloc (%taps) : memref<?xf32>
    %y = gpu.alloc (%n) : memref<?xf32>
    gpu.memcpy %x, %hx : memref<?xf32>, memref<?xf32>
    gpu.memcpy %h, %hh : memref<?xf32>, memref<?xf32>
    gpu.launch_func @kernels::@fir blocks in (%grid, %c1, %c1) threads in (%c256, %c1, %c1) args(%x : memref<?xf32>, %h : memref<?xf32>, %y : memref<?xf32>, %n : index, %taps : index)
    gpu.memcpy %hy, %y : memref<?xf32>, memref<?xf32>
    gpu.dealloc %x : memref<?xf32>
    gpu.dealloc %h : memref<?xf32>
    gpu.dealloc %y : memref<?xf32>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %zerof = arith.constant 0.0 : f32
    %bad = scf.for %i = %c0 to %n step %c1 iter_args(%sofar = %zero) -> i32 {
      %sum = scf.for %k = %c0 to %taps step %c1 iter_args(%s = %zerof) -> f32 {
        %j = arith.addi %i, %k : index
        %a = memref.load %hx[%j] : memref<?xf32>
        %b = memref.load %hh[%k] : memref<?xf32>
        %p = arith.mulf %a, %b : f32
        %q = arith.addf %s, %p : f32
        scf.yield %q : f32
      }
      %r = memref.load %hy[%i] : memref<?xf32>
      %differs = arith.cmpf une, %sum, %r : f32
      %next = arith.select %differs, %one, %sofar : i32
      scf.yield %next : i32
    }
    memref.dealloc %hx : memref<?xf32>
    memref.dealloc %hh : memref<?xf32>
    memref.dealloc %hy : memref<?xf32>
    return %bad : i32
  }
}
