// Functions that are called and not inlined, whose bodies can be seen: what they do is what their callers do.
// RUN: dragon-opt --dragon-kernel-access --dragon-slice-kernels %s | FileCheck %s
// RUN: dragon-opt --dragon-kernel-access --dragon-insert-directives --remark-format=emitRemark --remarks-filter=dragon %s 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

module attributes {gpu.container_module} {
  gpu.module @kernels {
    func.func private @index() -> index attributes {no_inline} {
      %i = gpu.global_id x
      return %i : index
    }
    func.func private @store(%a: memref<?xf32>, %i: index, %v: f32) attributes {no_inline} {
      memref.store %v, %a[%i] : memref<?xf32>
      return
    }
    // The kernel keeps its calls; its copy for slices has them in it.
    // CHECK: gpu.func @fill({{.*}}) kernel attributes {dragon.summary = #dragon.summary<sliceable|slice_clone|buffers_only {{.*}} pointers[<1 "arg0", write, streaming, none : <write|exact, 4 at {{.*}} slices "__dragon_slice_fill">}
    // CHECK: call @store
    // CHECK: gpu.func @__dragon_slice_fill(
    // CHECK-NOT: call @
    // CHECK: gpu.return
    gpu.func @fill(%a: memref<?xf32>) kernel {
      %i = func.call @index() : () -> index
      %v = arith.constant 1.0 : f32
      func.call @store(%a, %i, %v) : (memref<?xf32>, index, f32) -> ()
      gpu.return
    }

    // What is elsewhere, or calls itself, is not known.
    func.func private @elsewhere(memref<?xf32>)
    // CHECK: gpu.func @other({{.*}} #dragon.summary<touches_anything {{.*}} unsliceable "it calls a function that is not inlined">}
    gpu.func @other(%a: memref<?xf32>) kernel {
      func.call @elsewhere(%a) : (memref<?xf32>) -> ()
      gpu.return
    }
    func.func private @again(%a: memref<?xf32>, %n: index) attributes {no_inline} {
      func.call @again(%a, %n) : (memref<?xf32>, index) -> ()
      return
    }
    // CHECK: gpu.func @recursive({{.*}} #dragon.summary<touches_anything {{.*}} unsliceable "it calls a function that is not inlined">}
    gpu.func @recursive(%a: memref<?xf32>, %n: index) kernel {
      func.call @again(%a, %n) : (memref<?xf32>, index) -> ()
      gpu.return
    }
    // A callee of several blocks has no place in a condition.
    func.func private @blocks(%a: memref<?xf32>, %c: i1) attributes {no_inline} {
      cf.cond_br %c, ^one, ^two
    ^one:
      %c0 = arith.constant 0 : index
      %v = arith.constant 1.0 : f32
      memref.store %v, %a[%c0] : memref<?xf32>
      cf.br ^two
    ^two:
      return
    }
    // CHECK: gpu.func @nested({{.*}} #dragon.summary<touches_anything
    gpu.func @nested(%a: memref<?xf32>, %c: i1) kernel {
      scf.if %c {
        func.call @blocks(%a, %c) : (memref<?xf32>, i1) -> ()
      }
      gpu.return
    }
    // CHECK: gpu.func @flat({{.*}} pointers[<1 "arg0", write,
    gpu.func @flat(%a: memref<?xf32>, %c: i1) kernel {
      func.call @blocks(%a, %c) : (memref<?xf32>, i1) -> ()
      gpu.return
    }
  }

  func.func private @launch(%a: memref<?xf32>, %n: index) attributes {no_inline} {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@fill blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<?xf32>)
    return
  }
  func.func private @end(%a: memref<?xf32>) attributes {no_inline} {
    gpu.dealloc %a : memref<?xf32>
    return
  }
  func.func private @give(%a: memref<?xf32>) -> memref<?xf32> attributes {no_inline} {
    return %a : memref<?xf32>
  }
  func.func @public(%a: memref<?xf32>) attributes {no_inline} {
    return
  }

  // REMARK-NOT: Function=kept
  // REMARK: Discarded{{.*}}Function=kept
  func.func @kept(%n: index) {
    %a = gpu.alloc (%n) : memref<?xf32>
    func.call @launch(%a, %n) : (memref<?xf32>, index) -> ()
    gpu.dealloc %a : memref<?xf32>
    return
  }
  // REMARK: NotMapped {{.*}}Function=ended {{.*}}'gpu.dealloc' at line
  // REMARK-NOT: Discarded{{.*}}Function=ended
  func.func @ended(%n: index) {
    %a = gpu.alloc (%n) : memref<?xf32>
    func.call @launch(%a, %n) : (memref<?xf32>, index) -> ()
    func.call @end(%a) : (memref<?xf32>) -> ()
    return
  }
  // REMARK: NotMapped {{.*}}Function=given {{.*}}'func.return' at line
  func.func @given(%n: index) -> memref<?xf32> {
    %a = gpu.alloc (%n) : memref<?xf32>
    func.call @launch(%a, %n) : (memref<?xf32>, index) -> ()
    %b = func.call @give(%a) : (memref<?xf32>) -> memref<?xf32>
    return %b : memref<?xf32>
  }
  // What a function returns goes on.
  // REMARK: NotMapped {{.*}}Function=made {{.*}}'func.return' at line
  func.func @made(%n: index) -> memref<?xf32> {
    %c1 = arith.constant 1 : index
    %a = gpu.alloc (%n) : memref<?xf32>
    gpu.launch_func @kernels::@fill blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<?xf32>)
    return %a : memref<?xf32>
  }
  // REMARK: NotMapped {{.*}}Function=seen {{.*}}'func.call' at line
  func.func @seen(%n: index) {
    %a = gpu.alloc (%n) : memref<?xf32>
    func.call @public(%a) : (memref<?xf32>) -> ()
    gpu.dealloc %a : memref<?xf32>
    return
  }
}
