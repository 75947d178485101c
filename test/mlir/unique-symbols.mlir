// Kernels of one name in several gpu.modules.
// RUN: dragon-opt --dragon-unique-symbols %s | FileCheck %s

module attributes {gpu.container_module} {
  // CHECK: gpu.module @first
  // CHECK: func.func private @__nv_elsewhere()
  // CHECK: func.func private @helper()
  // CHECK: gpu.func @kernel()
  // CHECK: call @helper()
  gpu.module @first {
    func.func private @__nv_elsewhere()
    func.func private @helper() {
      func.call @__nv_elsewhere() : () -> ()
      return
    }
    gpu.func @kernel() kernel {
      func.call @helper() : () -> ()
      gpu.return
    }
  }
  // CHECK: gpu.module @second
  // CHECK: func.func private @__nv_elsewhere()
  // CHECK: func.func private @second_helper()
  // CHECK: call @__nv_elsewhere()
  // CHECK: gpu.func @second_kernel()
  // CHECK: call @second_helper()
  // CHECK: gpu.func @other()
  gpu.module @second {
    func.func private @__nv_elsewhere()
    func.func private @helper() {
      func.call @__nv_elsewhere() : () -> ()
      return
    }
    gpu.func @kernel() kernel {
      func.call @helper() : () -> ()
      gpu.return
    }
    gpu.func @other() kernel {
      gpu.return
    }
  }
  // CHECK: launch_func @first::@kernel
  // CHECK: launch_func @second::@second_kernel
  // CHECK: launch_func @second::@other
  func.func @main() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @first::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @second::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @second::@other blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}
