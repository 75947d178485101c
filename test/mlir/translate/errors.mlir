// What -dragon-unique-symbols has not seen.
// RUN: dragon-opt --pass-pipeline="builtin.module(gpu.module(convert-gpu-to-nvvm))" %s -o %t.mlir
// RUN: not dragon-translate --dragon-to-device-llvmir %t.mlir 2>&1 | FileCheck %s
// CHECK: error: there are two kernels 'k': give one of them another name
module attributes {gpu.container_module} {
  gpu.module @first {
    gpu.func @k(%n: index) kernel { gpu.return }
  }
  gpu.module @second {
    gpu.func @k(%n: index) kernel { gpu.return }
  }
}
