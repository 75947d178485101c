// Buffers that change places in a loop, and the same in C++: the same bytes move.
// RUN: %build %s -o %t.mlir.exe
// RUN: %build -fno-dragon-staging %S/Inputs/ping-pong.cu -o %t.cu.exe
// RUN: %out-of-core DRAGON_STATS=%t.mlir.json DRAGON_DEVICE_MEMORY=8M %t.mlir.exe
// RUN: %out-of-core DRAGON_STATS=%t.cu.json DRAGON_DEVICE_MEMORY=8M %t.cu.exe
// RUN: %same-bytes %t.mlir.json %t.cu.json

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @step(%a: memref<?xf32>, %b: memref<?xf32>, %n: index) kernel {
      %i = gpu.global_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %in = arith.cmpi slt, %i, %n : index
      scf.if %in {
        %last = arith.subi %n, %c1 : index
        %before = arith.subi %i, %c1 : index
        %after = arith.addi %i, %c1 : index
        %l = arith.maxsi %before, %c0 : index
        %r = arith.minsi %after, %last : index
        %x = memref.load %a[%l] : memref<?xf32>
        %y = memref.load %a[%i] : memref<?xf32>
        %z = memref.load %a[%r] : memref<?xf32>
        %s = arith.addf %x, %y : f32
        %t = arith.addf %s, %z : f32
        %quarter = arith.constant 0.25 : f32
        %u = arith.mulf %t, %quarter : f32
        memref.store %u, %b[%i] : memref<?xf32>
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

  func.func private @hostStep(%a: memref<?xf32>, %b: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %a, %c0 : memref<?xf32>
    %last = arith.subi %n, %c1 : index
    scf.for %i = %c0 to %n step %c1 {
      %before = arith.subi %i, %c1 : index
      %after = arith.addi %i, %c1 : index
      %l = arith.maxsi %before, %c0 : index
      %r = arith.minsi %after, %last : index
      %x = memref.load %a[%l] : memref<?xf32>
      %y = memref.load %a[%i] : memref<?xf32>
      %z = memref.load %a[%r] : memref<?xf32>
      %s = arith.addf %x, %y : f32
      %t = arith.addf %s, %z : f32
      %quarter = arith.constant 0.25 : f32
      %u = arith.mulf %t, %quarter : f32
      memref.store %u, %b[%i] : memref<?xf32>
    }
    return
  }

  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %steps = arith.constant 6 : index
    %c256 = arith.constant 256 : index
    %c1000 = arith.constant 1000 : index
    %n = arith.constant 2097152 : index
    %grid = arith.constant 8192 : index
    %h = memref.alloc(%n) : memref<?xf32>
    %p = memref.alloc(%n) : memref<?xf32>
    %q = memref.alloc(%n) : memref<?xf32>
    call @fill(%h, %c7, %c1000) : (memref<?xf32>, index, index) -> ()
    call @fill(%p, %c7, %c1000) : (memref<?xf32>, index, index) -> ()
    %a = gpu.alloc (%n) : memref<?xf32>
    %b = gpu.alloc (%n) : memref<?xf32>
    gpu.memcpy %a, %h : memref<?xf32>, memref<?xf32>
    %r:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%x = %a, %y = %b) -> (memref<?xf32>, memref<?xf32>) {
      gpu.launch_func @kernels::@step blocks in (%grid, %c1, %c1) threads in (%c256, %c1, %c1) args(%x : memref<?xf32>, %y : memref<?xf32>, %n : index)
      scf.yield %y, %x : memref<?xf32>, memref<?xf32>
    }
    gpu.memcpy %h, %r#0 : memref<?xf32>, memref<?xf32>
    gpu.dealloc %a : memref<?xf32>
    gpu.dealloc %b : memref<?xf32>
    %e:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%x = %p, %y = %q) -> (memref<?xf32>, memref<?xf32>) {
      func.call @hostStep(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
      scf.yield %y, %x : memref<?xf32>, memref<?xf32>
    }
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %bad = scf.for %i = %c0 to %n step %c1 iter_args(%sofar = %zero) -> i32 {
      %x = memref.load %h[%i] : memref<?xf32>
      %y = memref.load %e#0[%i] : memref<?xf32>
      %differs = arith.cmpf une, %x, %y : f32
      %next = arith.select %differs, %one, %sofar : i32
      scf.yield %next : i32
    }
    memref.dealloc %h : memref<?xf32>
    memref.dealloc %p : memref<?xf32>
    memref.dealloc %q : memref<?xf32>
    return %bad : i32
  }
}
