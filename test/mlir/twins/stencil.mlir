// A five-point stencil, and the same in C++: the same bytes move.
// RUN: %build %s -o %t.mlir.exe
// RUN: %build -fno-dragon-staging %S/Inputs/stencil.cu -o %t.cu.exe
// RUN: %out-of-core DRAGON_STATS=%t.mlir.json DRAGON_DEVICE_MEMORY=10M %t.mlir.exe
// RUN: %out-of-core DRAGON_STATS=%t.cu.json DRAGON_DEVICE_MEMORY=10M %t.cu.exe
// RUN: %same-bytes %t.mlir.json %t.cu.json

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @stencil(%a: memref<2048x1024xf32>, %b: memref<2048x1024xf32>) kernel {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %c1 = arith.constant 1 : index
      %c1023 = arith.constant 1023 : index
      %c2047 = arith.constant 2047 : index
      %left = arith.cmpi sge, %x, %c1 : index
      %right = arith.cmpi slt, %x, %c1023 : index
      %up = arith.cmpi sge, %y, %c1 : index
      %down = arith.cmpi slt, %y, %c2047 : index
      %h = arith.andi %left, %right : i1
      %v = arith.andi %up, %down : i1
      %inside = arith.andi %h, %v : i1
      scf.if %inside {
        %xl = arith.subi %x, %c1 : index
        %xr = arith.addi %x, %c1 : index
        %yu = arith.subi %y, %c1 : index
        %yd = arith.addi %y, %c1 : index
        %0 = memref.load %a[%y, %x] : memref<2048x1024xf32>
        %1 = memref.load %a[%y, %xl] : memref<2048x1024xf32>
        %2 = memref.load %a[%y, %xr] : memref<2048x1024xf32>
        %3 = memref.load %a[%yu, %x] : memref<2048x1024xf32>
        %4 = memref.load %a[%yd, %x] : memref<2048x1024xf32>
        %5 = arith.addf %0, %1 : f32
        %6 = arith.addf %2, %3 : f32
        %7 = arith.addf %5, %6 : f32
        %8 = arith.addf %7, %4 : f32
        memref.store %8, %b[%y, %x] : memref<2048x1024xf32>
      } else {
        %0 = memref.load %a[%y, %x] : memref<2048x1024xf32>
        memref.store %0, %b[%y, %x] : memref<2048x1024xf32>
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
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %c1000 = arith.constant 1000 : index
    %rows = arith.constant 2048 : index
    %columns = arith.constant 1024 : index
    %n = arith.constant 2097152 : index
    %flat = memref.alloc() : memref<2097152xf32>
    %ha = memref.expand_shape %flat [[0, 1]] output_shape [2048, 1024] : memref<2097152xf32> into memref<2048x1024xf32>
    %hb = memref.alloc() : memref<2048x1024xf32>
    %any = memref.cast %flat : memref<2097152xf32> to memref<?xf32>
    call @fill(%any, %c7, %c1000) : (memref<?xf32>, index, index) -> ()
    %a = gpu.alloc () : memref<2048x1024xf32>
    %b = gpu.alloc () : memref<2048x1024xf32>
    gpu.memcpy %a, %ha : memref<2048x1024xf32>, memref<2048x1024xf32>
    gpu.launch_func @kernels::@stencil blocks in (%c32, %c256, %c1) threads in (%c32, %c8, %c1) args(%a : memref<2048x1024xf32>, %b : memref<2048x1024xf32>)
    gpu.memcpy %hb, %b : memref<2048x1024xf32>, memref<2048x1024xf32>
    gpu.dealloc %a : memref<2048x1024xf32>
    gpu.dealloc %b : memref<2048x1024xf32>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c1023 = arith.constant 1023 : index
    %c2047 = arith.constant 2047 : index
    %bad = scf.for %y = %c1 to %c2047 step %c1 iter_args(%before = %zero) -> i32 {
      %row = scf.for %x = %c1 to %c1023 step %c1 iter_args(%sofar = %before) -> i32 {
        %xl = arith.subi %x, %c1 : index
        %xr = arith.addi %x, %c1 : index
        %yu = arith.subi %y, %c1 : index
        %yd = arith.addi %y, %c1 : index
        %0 = memref.load %ha[%y, %x] : memref<2048x1024xf32>
        %1 = memref.load %ha[%y, %xl] : memref<2048x1024xf32>
        %2 = memref.load %ha[%y, %xr] : memref<2048x1024xf32>
        %3 = memref.load %ha[%yu, %x] : memref<2048x1024xf32>
        %4 = memref.load %ha[%yd, %x] : memref<2048x1024xf32>
        %5 = arith.addf %0, %1 : f32
        %6 = arith.addf %2, %3 : f32
        %7 = arith.addf %5, %6 : f32
        %8 = arith.addf %7, %4 : f32
        %9 = memref.load %hb[%y, %x] : memref<2048x1024xf32>
        %differs = arith.cmpf une, %8, %9 : f32
        %next = arith.select %differs, %one, %sofar : i32
        scf.yield %next : i32
      }
      scf.yield %row : i32
    }
    %corner = memref.load %hb[%c0, %c0] : memref<2048x1024xf32>
    %first = memref.load %ha[%c0, %c0] : memref<2048x1024xf32>
    %differs = arith.cmpf une, %corner, %first : f32
    %result = arith.select %differs, %one, %bad : i32
    memref.dealloc %flat : memref<2097152xf32>
    memref.dealloc %hb : memref<2048x1024xf32>
    return %result : i32
  }
}
