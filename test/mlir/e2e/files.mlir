// A file into a file, out of core, through a buffer that only the device sees.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o copy
// RUN: head -c 16777216 /dev/urandom > in.bin
// RUN: %tight ./copy && cmp in.bin out.bin
// RUN: rm out.bin && %plain ./copy && cmp in.bin out.bin
// A file that is not there is told with the operation's place.
// RUN: rm in.bin && not %plain ./copy 2>&1 | FileCheck %s
// CHECK: files.mlir:[[#@LINE+23]]:{{[0-9]+}}: error: dragon_map: {{.*}}in.bin
// RUN: rm -rf %t.dir
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @negate(%to: memref<?xi32>, %from: memref<?xi32>, %n: index) kernel {
      %i = gpu.global_id x
      %inside = arith.cmpi slt, %i, %n : index
      scf.if %inside {
        %ones = arith.constant -1 : i32
        %x = memref.load %from[%i] : memref<?xi32>
        %y = arith.xori %x, %ones : i32
        memref.store %y, %to[%i] : memref<?xi32>
      }
      gpu.return
    }
  }
  func.func @main() {
    %n = arith.constant 4194304 : index
    %c1 = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %blocks = arith.ceildivsi %n, %threads : index
    %out = dragon.map "out.bin" (%n) flags(write|create) : memref<?xi32>
    %tmp = dragon.alloc (%n) flags(volatile) : memref<?xi32>
    %in = dragon.map "in.bin" (%n) flags(read) : memref<?xi32>
    gpu.launch_func @kernels::@negate blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%tmp : memref<?xi32>, %in : memref<?xi32>, %n : index)
    dragon.unmap %in : memref<?xi32>
    gpu.launch_func @kernels::@negate blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%out : memref<?xi32>, %tmp : memref<?xi32>, %n : index)
    dragon.free %tmp : memref<?xi32>
    dragon.unmap %out : memref<?xi32>
    return
  }
}
