// Vector addition, and the same in C++: the same bytes move.
// RUN: %build %s -o %t.mlir.exe
// RUN: %build -fno-dragon-staging %S/Inputs/vector-add.cu -o %t.cu.exe
// RUN: %out-of-core DRAGON_STATS=%t.mlir.json DRAGON_DEVICE_MEMORY=12M %t.mlir.exe
// RUN: %out-of-core DRAGON_STATS=%t.cu.json DRAGON_DEVICE_MEMORY=12M %t.cu.exe
// RUN: %same-bytes %t.mlir.json %t.cu.json

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @add(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>, %n: index) kernel {
      %i = gpu.global_id x
      %in = arith.cmpi slt, %i, %n : index
      scf.if %in {
        %x = memref.load %a[%i] : memref<?xf32>
        %y = memref.load %b[%i] : memref<?xf32>
        %z = arith.addf %x, %y : f32
        memref.store %z, %c[%i] : memref<?xf32>
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
    %c11 = arith.constant 11 : index
    %c256 = arith.constant 256 : index
    %c1000 = arith.constant 1000 : index
    %n = arith.constant 3145728 : index
    %grid = arith.constant 12288 : index
    %ha = memref.alloc(%n) : memref<?xf32>
    %hb = memref.alloc(%n) : memref<?xf32>
    %hc = memref.alloc(%n) : memref<?xf32>
    call @fill(%ha, %c7, %c1000) : (memref<?xf32>, index, index) -> ()
    call @fill(%hb, %c11, %c1000) : (memref<?xf32>, index, index) -> ()
    %a = gpu.alloc (%n) : memref<?xf32>
    %b = gpu.alloc (%n) : memref<?xf32>
    %c = gpu.alloc (%n) : memref<?xf32>
    gpu.memcpy %a, %ha : memref<?xf32>, memref<?xf32>
    gpu.memcpy %b, %hb : memref<?xf32>, memref<?xf32>
    gpu.launch_func @kernels::@add blocks in (%grid, %c1, %c1) threads in (%c256, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>, %c : memref<?xf32>, %n : index)
    gpu.memcpy %hc, %c : memref<?xf32>, memref<?xf32>
    gpu.dealloc %a : memref<?xf32>
    gpu.dealloc %b : memref<?xf32>
    gpu.dealloc %c : memref<?xf32>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %bad = scf.for %i = %c0 to %n step %c1 iter_args(%sofar = %zero) -> i32 {
      %x = memref.load %ha[%i] : memref<?xf32>
      %y = memref.load %hb[%i] : memref<?xf32>
      %z = memref.load %hc[%i] : memref<?xf32>
      %s = arith.addf %x, %y : f32
      %differs = arith.cmpf une, %s, %z : f32
      %next = arith.select %differs, %one, %sofar : i32
      scf.yield %next : i32
    }
    memref.dealloc %ha : memref<?xf32>
    memref.dealloc %hb : memref<?xf32>
    memref.dealloc %hc : memref<?xf32>
    return %bad : i32
  }
}
