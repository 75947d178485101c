// The kernels of all modules in one, each of its functions for one
// architecture, and nothing of them in the host's.
// RUN: dragon-opt --dragon-pipeline %s -o %t.mlir
// RUN: dragon-translate --dragon-to-device-llvmir --arch=sm_90 %t.mlir | FileCheck %s --check-prefix=DEVICE
// RUN: dragon-translate --dragon-to-host-llvmir %t.mlir | FileCheck %s --check-prefix=HOST
// RUN: dragon-translate --dragon-to-summary %t.mlir -o %t.summary
// RUN: grep -a -q one %t.summary && grep -a -q two %t.summary

// DEVICE: target triple = "nvptx64-nvidia-cuda"
// DEVICE: define ptx_kernel void @one(ptr %{{.*}}, ptr %{{.*}}, i64 %{{.*}}, i64 %{{.*}}, i64 %{{.*}}) #[[ATTRIBUTES:[0-9]+]]
// DEVICE: define internal float @helper(float
// DEVICE: define ptx_kernel void @two(i64
// DEVICE: define internal float @second_helper(float
// DEVICE: attributes #[[ATTRIBUTES]] = { convergent "target-cpu"="sm_90" }

// HOST-NOT: nvptx
// HOST: @dragon.fat_binary = external constant i8
// HOST: @__cuda_fatbin_wrapper = internal constant
// HOST: @llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 101, ptr @dragon.register_kernels, ptr null }]
// HOST-NOT: ptx_kernel
// HOST: define i32 @main()

module attributes {gpu.container_module} {
  gpu.module @first {
    gpu.func @one(%a: memref<?xf32>) kernel {
      %i = gpu.thread_id x
      %x = memref.load %a[%i] : memref<?xf32>
      %y = func.call @helper(%x) : (f32) -> f32
      memref.store %y, %a[%i] : memref<?xf32>
      gpu.return
    }
    func.func @helper(%x: f32) -> f32 attributes {no_inline} {
      return %x : f32
    }
  }
  gpu.module @second {
    gpu.func @two(%n: index, %a: memref<1xf32>) kernel {
      %c0 = arith.constant 0 : index
      %x = memref.load %a[%c0] : memref<1xf32>
      %y = func.call @helper(%x) : (f32) -> f32
      memref.store %y, %a[%c0] : memref<1xf32>
      gpu.return
    }
    func.func @helper(%x: f32) -> f32 attributes {no_inline} {
      return %x : f32
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %a = gpu.alloc () : memref<1xf32>
    gpu.launch_func @second::@two blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%c1 : index, %a : memref<1xf32>)
    return
  }
}
