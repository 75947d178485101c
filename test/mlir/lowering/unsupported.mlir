// What cannot be lowered is named, with the pass that is to run before.
// RUN: not dragon-opt --split-input-file --dragon-pipeline --mlir-print-op-on-diagnostic=false %s -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error:

// CHECK: unsupported.mlir:[[#@LINE+1]]:1: error: 'func.func' is not supported: before dragon-cc, make memrefs of its tensors, as --one-shot-bufferize does
func.func @tensors(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

func.func @loops(%a: memref<4xf32>) {
  // CHECK: unsupported.mlir:[[#@LINE+1]]:3: error: 'linalg.exp' is not supported: before dragon-cc, make loops or launches of it, as --convert-linalg-to-parallel-loops does
  linalg.exp ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
  return
}

// -----

func.func @parallel() {
  // CHECK: unsupported.mlir:[[#@LINE+1]]:8: error: 'async.execute' is not supported: before dragon-cc, leave out --async-parallel-for and --gpu-async-region; device work is asynchronous by tokens of gpu's own operations
  %t = async.execute {
    async.yield
  }
  // CHECK: unsupported.mlir:[[#@LINE+1]]:3: error: 'async.await' is not supported
  async.await %t : !async.token
  return
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%a: f32) kernel {
      // CHECK-COUNT-2: unsupported.mlir:[[#@LINE+2]]:12: error: 'gpu.subgroup_reduce' op cluster size 64 is greater than subgroup size 32
      // CHECK: unsupported.mlir:[[#@LINE+1]]:12: error: 'gpu.subgroup_reduce' is not supported
      %x = gpu.subgroup_reduce add %a cluster(size = 64) : (f32) -> f32
      gpu.return
    }
  }
}

// -----

func.func @sparse(%m: memref<?xf64>, %n: index) {
  %t = gpu.wait async
  // CHECK: unsupported.mlir:[[#@LINE+1]]:15: error: 'gpu.create_dn_tensor' is not supported
  %d, %next = gpu.create_dn_tensor async [%t] %m, %n : index into memref<?xf64>
  gpu.wait [%next]
  return
}
