// Whether the host waits for a launch without a token: where the module tells whose memory it is, and where the runtime is asked.
// RUN: dragon-opt --convert-dragon-to-llvm %s | FileCheck %s
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%a: memref<4xf32>) kernel {
      gpu.return
    }
  }

  // Anybody may call it, with any memory.
  // CHECK-LABEL: llvm.func @given
  // CHECK: llvm.call @cudaLaunchKernel
  // CHECK-NOT: cudaStreamSynchronize
  // CHECK: llvm.call @__dragon_wait_if_visible(
  // CHECK-NOT: cudaStreamSynchronize
  func.func @given(%a: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
    return
  }

  // All callers are known, and give what the host cannot see.
  // CHECK-LABEL: llvm.func @called
  // CHECK: llvm.call @cudaLaunchKernel
  // CHECK-NOT: __dragon_wait_if_visible
  // CHECK-NOT: cudaStreamSynchronize
  func.func private @called(%a: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
    return
  }

  // CHECK-LABEL: llvm.func @choice
  // CHECK: llvm.call @cudaLaunchKernel
  // CHECK-NOT: __dragon_wait_if_visible
  // CHECK-NOT: cudaStreamSynchronize
  func.func @choice(%which: i1) {
    %c1 = arith.constant 1 : index
    %a = gpu.alloc () : memref<4xf32>
    %b = dragon.alloc device : memref<4xf32>
    %x = arith.select %which, %a, %b : memref<4xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    func.call @called(%x) : (memref<4xf32>) -> ()
    cf.cond_br %which, ^next(%a : memref<4xf32>), ^next(%b : memref<4xf32>)
  ^next(%y: memref<4xf32>):
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%y : memref<4xf32>)
    return
  }

  // One that the host looks at by a third name.
  // CHECK-LABEL: llvm.func @looked
  // CHECK: llvm.call @cudaLaunchKernel
  // CHECK: llvm.call @cudaStreamSynchronize
  func.func @looked(%which: i1) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = gpu.alloc () : memref<4xf32>
    %b = dragon.alloc : memref<4xf32>
    %x = arith.select %which, %a, %b : memref<4xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    %v = func.call @first(%b) : (memref<4xf32>) -> f32
    return %v : f32
  }
  func.func private @first(%b: memref<4xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %v = memref.load %b[%c0] : memref<4xf32>
    return %v : f32
  }
}
