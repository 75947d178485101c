// What the compiler adds to host code of the gpu dialect.
// RUN: dragon-opt --allow-unregistered-dialect --dragon-kernel-access --dragon-insert-directives %s | FileCheck %s
// RUN: dragon-opt --allow-unregistered-dialect --dragon-kernel-access --dragon-insert-directives=print=1 %s | FileCheck %s --check-prefix=PROGRAM
// RUN: dragon-opt --allow-unregistered-dialect --dragon-kernel-access --dragon-insert-directives --remark-format=emitRemark --remarks-filter=dragon %s 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// Without summaries, nothing is known of any kernel.
// RUN: dragon-opt --allow-unregistered-dialect --dragon-insert-directives %s | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN-LABEL: func.func @add
// UNKNOWN-NOT: dragon.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @add(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>, %n: index) kernel {
      %i = gpu.global_id x
      %in = arith.cmpi slt, %i, %n : index
      scf.if %in {
        %v = memref.load %a[%i] : memref<?xf32>
        %u = memref.load %b[%i] : memref<?xf32>
        %w = arith.addf %v, %u : f32
        memref.store %w, %c[%i] : memref<?xf32>
      }
      gpu.return
    }
    gpu.func @copy(%a: memref<?xf32>, %b: memref<?xf32>, %n: index) kernel {
      %i = gpu.global_id x
      %in = arith.cmpi slt, %i, %n : index
      scf.if %in {
        %v = memref.load %a[%i] : memref<?xf32>
        memref.store %v, %b[%i] : memref<?xf32>
      }
      gpu.return
    }
  }
  func.func private @look(memref<?xf32>)

  // REMARK: MappedReadOnlyCopied {{.*}}Function=add {{.*}}mapped read-only, copied in at line
  // REMARK: MappedWriteOnlyCopied {{.*}}mapped write-only, copied out at line
  // REMARK: Discarded {{.*}}discarded after 'add': freed at line
  // CHECK-LABEL: func.func @add
  // CHECK-NEXT: %[[ONE:.*]] = arith.constant 1
  // CHECK: %[[A:.*]] = dragon.alloc(%{{.*}}) flags(read) device {dragon.inserted} : memref<?xf32>
  // CHECK: %[[B:.*]] = dragon.alloc(%{{.*}}) flags(read) device {dragon.inserted} : memref<?xf32>
  // CHECK: %[[C:.*]] = dragon.alloc(%{{.*}}) flags(write) device {dragon.inserted} : memref<?xf32>
  // CHECK: dragon.last_use %[[A]] {dragon.inserted} : memref<?xf32>
  // CHECK-NEXT: dragon.last_use %[[B]] {dragon.inserted} : memref<?xf32>
  // CHECK-NEXT: gpu.launch_func
  // CHECK: dragon.discard %[[C]] {dragon.inserted} : memref<?xf32>
  // CHECK-NEXT: gpu.dealloc %[[C]]
  func.func @add(%ha: memref<?xf32>, %hb: memref<?xf32>, %hc: memref<?xf32>, %n: index, %g: index) {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %a = gpu.alloc (%n) : memref<?xf32>
    %b = gpu.alloc (%n) : memref<?xf32>
    %c = gpu.alloc (%n) : memref<?xf32>
    gpu.memcpy %a, %ha : memref<?xf32>, memref<?xf32>
    gpu.memcpy %b, %hb : memref<?xf32>, memref<?xf32>
    gpu.launch_func @kernels::@add blocks in (%g, %c1, %c1) threads in (%c256, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>, %c : memref<?xf32>, %n : index)
    gpu.memcpy %hc, %c : memref<?xf32>, memref<?xf32>
    gpu.dealloc %a : memref<?xf32>
    gpu.dealloc %b : memref<?xf32>
    gpu.dealloc %c : memref<?xf32>
    return
  }

  // Buffers that change places in a loop, in one stream.
  // PROGRAM: buffer program of steps:
  // PROGRAM: -> b1, b2
  // PROGRAM-NEXT: block b1
  // PROGRAM-NEXT: pointer [[X:%arg[0-9]+]] %memref from b0, [[Y:%arg[0-9]+]] from b1
  // PROGRAM-NEXT: pointer [[Y]] %memref_0 from b0, [[X]] from b1
  // PROGRAM-NEXT: launch copy {{.*}} by read([[X]]) write([[Y]]) stream 1
  // PROGRAM-NEXT: -> b1, b2
  // REMARK: RunsTogether {{.*}}launch of 'copy' may run together with the next, of 'copy' at line
  // CHECK-LABEL: func.func @steps
  // CHECK: dragon.alloc(%{{.*}}) flags(read|write) device {dragon.inserted} : memref<?xf32>
  // CHECK: scf.for
  // CHECK-NEXT: dragon.launch_follows
  // CHECK-NEXT: gpu.launch_func async
  func.func @steps(%h: memref<?xf32>, %n: index, %g: index, %steps: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %t0 = gpu.wait async
    %a, %t1 = gpu.alloc async [%t0] (%n) : memref<?xf32>
    %b, %t2 = gpu.alloc async [%t1] (%n) : memref<?xf32>
    %t3 = gpu.memcpy async [%t2] %a, %h : memref<?xf32>, memref<?xf32>
    %r:3 = scf.for %i = %c0 to %steps step %c1 iter_args(%x = %a, %y = %b, %t = %t3) -> (memref<?xf32>, memref<?xf32>, !gpu.async.token) {
      %u = gpu.launch_func async [%t] @kernels::@copy blocks in (%g, %c1, %c1) threads in (%c256, %c1, %c1) args(%x : memref<?xf32>, %y : memref<?xf32>, %n : index)
      scf.yield %y, %x, %u : memref<?xf32>, memref<?xf32>, !gpu.async.token
    }
    %t5 = gpu.memcpy async [%r#2] %h, %r#0 : memref<?xf32>, memref<?xf32>
    gpu.wait [%t5]
    gpu.dealloc %a : memref<?xf32>
    gpu.dealloc %b : memref<?xf32>
    return
  }

  // What the loop goes round with is another value behind it.
  // CHECK-LABEL: func.func @leaves
  // CHECK: %[[R:.*]]:2 = scf.for
  // CHECK: dragon.discard %[[R]]#1 {dragon.inserted} : memref<?xf32>
  // CHECK: gpu.memcpy %{{.*}}, %[[R]]#0
  func.func @leaves(%h: memref<?xf32>, %n: index, %g: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %c256 = arith.constant 256 : index
    %a = gpu.alloc (%n) : memref<?xf32>
    %b = gpu.alloc (%n) : memref<?xf32>
    gpu.memcpy %a, %h : memref<?xf32>, memref<?xf32>
    %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %a, %y = %b) -> (memref<?xf32>, memref<?xf32>) {
      gpu.launch_func @kernels::@copy blocks in (%g, %c1, %c1) threads in (%c256, %c1, %c1) args(%x : memref<?xf32>, %y : memref<?xf32>, %n : index)
      scf.yield %y, %x : memref<?xf32>, memref<?xf32>
    }
    gpu.memcpy %h, %r#0 : memref<?xf32>, memref<?xf32>
    gpu.dealloc %a : memref<?xf32>
    gpu.dealloc %b : memref<?xf32>
    return
  }

  // Dead until the launch that overwrites it, if it overwrites all of it: asked
  // with numbers that are computed again where the answer is needed.
  // CHECK-LABEL: func.func @scratch
  // CHECK: %[[S:.*]] = dragon.alloc(%{{.*}}) flags(volatile) device {dragon.inserted} : memref<?xf32>
  // CHECK: scf.for
  // CHECK: gpu.launch_func @kernels::@copy {{.*}} args(%{{.*}} : memref<?xf32>, %[[S]]
  // CHECK: %[[BYTES:.*]] = dragon.overwritten @kernels::@copy operand 1 blocks in {{.*}} args({{.*}}, %[[S]], {{.*}})
  // CHECK-NEXT: dragon.last_use %[[S]] bytes %[[BYTES]] : i64
  // CHECK: gpu.launch_func @kernels::@copy {{.*}} args(%[[S]]
  func.func @scratch(%h: memref<?xf32>, %n: index, %g: index, %steps: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %a = gpu.alloc (%n) : memref<?xf32>
    %s = gpu.alloc (%n) : memref<?xf32>
    gpu.memcpy %a, %h : memref<?xf32>, memref<?xf32>
    scf.for %i = %c0 to %steps step %c1 {
      gpu.launch_func @kernels::@copy blocks in (%g, %c1, %c1) threads in (%c256, %c1, %c1) args(%a : memref<?xf32>, %s : memref<?xf32>, %n : index)
      gpu.launch_func @kernels::@copy blocks in (%g, %c1, %c1) threads in (%c256, %c1, %c1) args(%s : memref<?xf32>, %a : memref<?xf32>, %n : index)
    }
    gpu.memcpy %h, %a : memref<?xf32>, memref<?xf32>
    gpu.dealloc %a : memref<?xf32>
    gpu.dealloc %s : memref<?xf32>
    return
  }

  // A function that may keep the address.
  // REMARK: NotMapped {{.*}}not mapped: 'func.call' at line {{.*}} may keep its address
  // CHECK-LABEL: func.func @escapes
  // CHECK: gpu.alloc
  // CHECK-NOT: dragon.
  // CHECK: return
  func.func @escapes(%h: memref<?xf32>, %n: index, %g: index) {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %a = gpu.alloc (%n) : memref<?xf32>
    gpu.memcpy %a, %h : memref<?xf32>, memref<?xf32>
    func.call @look(%a) : (memref<?xf32>) -> ()
    gpu.launch_func @kernels::@copy blocks in (%g, %c1, %c1) threads in (%c256, %c1, %c1) args(%a : memref<?xf32>, %h : memref<?xf32>, %n : index)
    func.call @look(%a) : (memref<?xf32>) -> ()
    gpu.dealloc %a : memref<?xf32>
    return
  }

  // Work that somebody else puts in order, and operations that nothing is known
  // of.
  // CHECK-LABEL: func.func @elsewhere
  // CHECK-NOT: dragon.
  // CHECK: return
  func.func @elsewhere(%h: memref<?xf32>, %n: index, %g: index) {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %t0, %f0 = async.execute () -> !async.value<memref<?xf32>> {
      %a = gpu.alloc (%n) : memref<?xf32>
      gpu.memcpy %a, %h : memref<?xf32>, memref<?xf32>
      async.yield %a : memref<?xf32>
    }
    %t1 = async.execute [%t0] (%f0 as %b: !async.value<memref<?xf32>>) {
      gpu.launch_func @kernels::@copy blocks in (%g, %c1, %c1) threads in (%c256, %c1, %c1) args(%b : memref<?xf32>, %h : memref<?xf32>, %n : index)
      async.yield
    }
    async.await %t1 : !async.token
    %c = gpu.alloc (%n) : memref<?xf32>
    "somebody.uses"(%c) : (memref<?xf32>) -> ()
    gpu.launch_func @kernels::@copy blocks in (%g, %c1, %c1) threads in (%c256, %c1, %c1) args(%c : memref<?xf32>, %h : memref<?xf32>, %n : index)
    "somebody.uses"(%h) : (memref<?xf32>) -> ()
    return
  }

  // The host looks at memory that it shares with the device.
  // PROGRAM: buffer program of shared:
  // PROGRAM: launch copy
  // PROGRAM-NEXT: host-access
  // CHECK-LABEL: func.func @shared
  // CHECK: gpu.alloc host_shared
  // CHECK: gpu.launch_func
  // CHECK-NOT: dragon.discard
  // CHECK: memref.load
  func.func @shared(%n: index, %g: index) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %a = gpu.alloc host_shared (%n) : memref<?xf32>
    %b = gpu.alloc host_shared (%n) : memref<?xf32>
    gpu.launch_func @kernels::@copy blocks in (%g, %c1, %c1) threads in (%c256, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>, %n : index)
    %v = memref.load %b[%c0] : memref<?xf32>
    gpu.dealloc %b : memref<?xf32>
    return %v : f32
  }
}
