; Accesses that may be to global memory are told; those that cannot be are not.
; RUN: %dragon-opt-passes -passes='dragon-trace-accesses,verify' -S %s | FileCheck %s
; The table says that they are. The option is for the pipeline.
; RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' -S %s | FileCheck %s --check-prefix=WITHOUT
; WITHOUT-NOT: dragon_cpu_access

target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [64 x float] poison, align 4

; CHECK-LABEL: define ptx_kernel void @plain(
; CHECK:         call void @dragon_cpu_access(ptr %in, i64 4, i32 1)
; CHECK-NEXT:    %v = load float, ptr %in
; CHECK-NEXT:    [[CAST:%.*]] = addrspacecast ptr addrspace(1) %out to ptr
; CHECK-NEXT:    call void @dragon_cpu_access(ptr [[CAST]], i64 4, i32 2)
; CHECK-NEXT:    store float %v, ptr addrspace(1) %out
; CHECK:         call void @dragon_cpu_access(ptr %wide, i64 16, i32 1)
; CHECK-NEXT:    load <4 x float>
define ptx_kernel void @plain(ptr %in, ptr addrspace(1) %out, ptr %wide) {
  %v = load float, ptr %in
  store float %v, ptr addrspace(1) %out
  %w = load <4 x float>, ptr %wide
  ret void
}

; CHECK-LABEL: define ptx_kernel void @atomics(
; CHECK:         call void @dragon_cpu_access(ptr %p, i64 4, i32 3)
; CHECK-NEXT:    atomicrmw
; CHECK:         call void @dragon_cpu_access(ptr %q, i64 8, i32 3)
; CHECK-NEXT:    cmpxchg
define ptx_kernel void @atomics(ptr %p, ptr %q) {
  %a = atomicrmw add ptr %p, i32 1 monotonic
  %b = cmpxchg ptr %q, i64 0, i64 1 monotonic monotonic
  ret void
}

; CHECK-LABEL: define ptx_kernel void @blocks(
; CHECK:         call void @dragon_cpu_access(ptr %from, i64 %n, i32 1)
; CHECK:         call void @dragon_cpu_access(ptr %to, i64 %n, i32 2)
; CHECK-NEXT:    call void @llvm.memcpy
; CHECK:         call void @dragon_cpu_access(ptr %to, i64 32, i32 2)
; CHECK-NEXT:    call void @llvm.memset
define ptx_kernel void @blocks(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 32, i1 false)
  ret void
}

; CHECK-LABEL: define ptx_kernel void @elsewhere(
; CHECK-NOT:     dragon_cpu_access
; CHECK:         ret void
define ptx_kernel void @elsewhere(ptr byval(i64) %argument) {
  %local = alloca [4 x i32]
  store i32 1, ptr %local
  %shared = load float, ptr addrspace(3) @tile
  store float %shared, ptr addrspacecast (ptr addrspace(3) @tile to ptr)
  %v = load i64, ptr %argument
  ret void
}
