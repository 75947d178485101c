// RUN: dragon-opt --split-input-file --verify-diagnostics %s

func.func @map_without_direction() {
  // expected-error @below {{of a file is for 'read', 'write' or both}}
  %a = dragon.map "a" flags(volatile) : memref<4xf32>
  return
}

// -----

func.func @map_makes_what_it_reads() {
  // expected-error @below {{with 'create' is for 'write' as well}}
  %a = dragon.map "a" flags(read|create) : memref<4xf32>
  return
}

// -----

func.func @sizes(%n: index) {
  // expected-error @below {{has 1 sizes for the 2 unknown dimensions of 'memref<?x?xf32>'}}
  %a = dragon.map "a" (%n) flags(read) : memref<?x?xf32>
  return
}

// -----

func.func @layout() {
  // expected-error @below {{makes buffers without a layout}}
  %a = dragon.alloc : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

func.func @no_file() {
  // expected-error @below {{has no file to create}}
  %a = dragon.alloc flags(create) : memref<4xf32>
  return
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%a: memref<?xf32>) kernel { gpu.return }
  }
  func.func @operand(%a: memref<?xf32>, %n: index) {
    // expected-error @below {{asks for operand 1, which is no memref}}
    %bytes = dragon.overwritten @kernels::@k operand 1 blocks in (%n, %n, %n) threads in (%n, %n, %n)
        args(%a, %n : memref<?xf32>, index)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%a: memref<?xf32>) kernel { gpu.return }
  }
  func.func @arguments(%a: memref<?xf32>, %n: index) {
    // expected-error @below {{has 2 operands for a kernel with 1}}
    %bytes = dragon.overwritten @kernels::@k operand 0 blocks in (%n, %n, %n) threads in (%n, %n, %n)
        args(%a, %n : memref<?xf32>, index)
    return
  }
}

// -----

// expected-error @below {{'dragon.summary' belongs to kernels}}
func.func @not_a_kernel() attributes {dragon.summary = #dragon.summary<none>} {
  return
}

// -----

gpu.module @kernels {
  // expected-error @below {{the summary has a pointer in argument 7 of 1}}
  gpu.func @k(%n: index) kernel attributes {
      dragon.summary = #dragon.summary<none arguments[8] pointers[<7 "a", read, streaming, none>]>} {
    gpu.return
  }
}
