// RUN: dragon-opt --convert-dragon-to-llvm %s | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%a: memref<?xf32>, %n: index) kernel { gpu.return }
  }

  // CHECK: llvm.mlir.global internal constant @__device_stub__k(0 : i8)

  // CHECK-LABEL: llvm.func @memory
  // CHECK: llvm.call @__dragon_malloc(%[[PLACE:.*]], %{{.*}}, %{{.*}}, %[[SOURCE:.*]])
  // CHECK-NEXT: llvm.mlir.addressof @dragon.text
  // CHECK: llvm.call @__dragon_require_cuda
  // CHECK: llvm.load %[[PLACE]]
  // CHECK: llvm.call @cudaMemsetAsync
  // CHECK-NOT: cudaStreamSynchronize
  // CHECK: llvm.call @__dragon_fill
  // CHECK-NOT: cudaStreamSynchronize
  // CHECK: %[[KIND:.*]] = llvm.mlir.constant(4 : i32) : i32
  // CHECK: llvm.call @cudaMemcpy(%{{.*}}, %{{.*}}, %{{.*}}, %[[KIND]])
  // CHECK: llvm.call @cudaFree
  func.func @memory(%h: memref<?xf32>, %n: index) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %a = gpu.alloc (%n) : memref<?xf32>
    gpu.memset %a, %zero : memref<?xf32>, f32
    gpu.memset %a, %one : memref<?xf32>, f32
    gpu.memcpy %h, %a : memref<?xf32>, memref<?xf32>
    gpu.dealloc %a : memref<?xf32>
    return
  }

  // A place on the stack must not be made anew in each round.
  // CHECK-LABEL: llvm.func @in_loop
  // CHECK: llvm.alloca
  // CHECK: llvm.cond_br
  // CHECK-NOT: llvm.alloca
  // CHECK: llvm.return
  func.func @in_loop(%n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    cf.br ^loop(%c0 : index)
  ^loop(%i: index):
    %more = arith.cmpi slt, %i, %n : index
    cf.cond_br %more, ^body, ^end
  ^body:
    %a = gpu.alloc (%n) : memref<?xf32>
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%n, %c1, %c1)
        args(%a : memref<?xf32>, %n : index)
    gpu.dealloc %a : memref<?xf32>
    %next = arith.addi %i, %c1 : index
    cf.br ^loop(%next : index)
  ^end:
    return
  }

  // Of memory that the host cannot look at it sees nothing: no wait.
  // CHECK-LABEL: llvm.func @launch
  // CHECK: %[[STUB:.*]] = llvm.mlir.addressof @__device_stub__k
  // CHECK: llvm.call @cudaLaunchKernel(%[[STUB]], %{{.*}}) : (!llvm.ptr, i64, i32, i64, i32, !llvm.ptr, i64, !llvm.ptr) -> i32
  // CHECK-NOT: cudaStreamSynchronize
  // CHECK: llvm.return
  func.func @launch(%n: index) {
    %c1 = arith.constant 1 : index
    %a = gpu.alloc (%n) : memref<?xf32>
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%n, %c1, %c1)
        args(%a : memref<?xf32>, %n : index)
    return
  }

  // CHECK-LABEL: llvm.func @launch_shared
  // CHECK: llvm.call @cudaLaunchKernel
  // CHECK: llvm.call @cudaStreamSynchronize
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
  func.func @launch_shared(%n: index) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = gpu.alloc host_shared (%n) : memref<?xf32>
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%n, %c1, %c1)
        args(%a : memref<?xf32>, %n : index)
    %x = memref.load %a[%c0] : memref<?xf32>
    return %x : f32
  }

  // Where the memory comes from is not known.
  // CHECK-LABEL: llvm.func @launch_unknown
  // CHECK: llvm.call @cudaLaunchKernel
  // CHECK: llvm.call @__dragon_wait_if_visible
  func.func @launch_unknown(%a: memref<?xf32>, %n: index) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%n, %c1, %c1)
        args(%a : memref<?xf32>, %n : index)
    return
  }

  // CHECK-LABEL: llvm.func @pin
  // CHECK: llvm.call @__dragon_host_register(%{{.*}}) : (i64, !llvm.ptr, i64) -> i32
  // CHECK: llvm.call @__dragon_host_unregister
  func.func @pin(%a: memref<*xf32>) {
    gpu.host_register %a : memref<*xf32>
    gpu.host_unregister %a : memref<*xf32>
    return
  }

  // CHECK-LABEL: llvm.func @main() -> i32
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK: llvm.return %[[ZERO]]
  func.func @main() {
    return
  }

  // CHECK: llvm.mlir.global external constant @dragon.fat_binary()
  // CHECK: llvm.mlir.global internal constant @__cuda_fatbin_wrapper()
  // CHECK-SAME: section = ".nvFatBinSegment"
  // CHECK-LABEL: llvm.func internal @dragon.register_kernels()
  // CHECK: llvm.call @__cudaRegisterFatBinary
  // CHECK: llvm.call @__cudaRegisterFunction
  // CHECK: llvm.call @__cudaRegisterFatBinaryEnd
  // CHECK: llvm.call @atexit
  // CHECK: llvm.mlir.global_ctors ctors = [@dragon.register_kernels], priorities = [101 : i32]
}
