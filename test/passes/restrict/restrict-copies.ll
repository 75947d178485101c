; A kernel with loads that wait for stores gets a copy in which they do not: its
; pointers are noalias, and readonly where nothing is written through them.
; RUN: %dragon-opt-passes -passes='dragon-restrict-kernels,verify' -S %s | FileCheck %s --implicit-check-not=__dragon_restrict

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: @llvm.used = {{.*}}@in_loop{{.*}}@__dragon_restrict_in_loop
@llvm.used = appending global [1 x ptr] [ptr @in_loop], section "llvm.metadata"

%struct.Params = type { ptr, i32 }

; The kernel itself stays as it is.
; CHECK-LABEL: define ptx_kernel void @in_loop(ptr %out, ptr %factor, i64 %n)
; CHECK: loop:
; CHECK: load float, ptr %factor
define ptx_kernel void @in_loop(ptr %out, ptr %factor, i64 %n) #0 {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %f = load float, ptr %factor
  %p = getelementptr float, ptr %out, i64 %i
  store float %f, ptr %p
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end

end:
  ret void
}

; Nothing comes behind a store: there is nothing to gain.
define ptx_kernel void @streams(ptr %out, ptr %in, i64 %i) {
  %p = getelementptr float, ptr %in, i64 %i
  %f = load float, ptr %p
  %q = getelementptr float, ptr %out, i64 %i
  store float %f, ptr %q
  ret void
}

; One behind the other.
define ptx_kernel void @straight(ptr %out, ptr %in, i64 %i) {
  store float 1.0, ptr %out
  %f = load float, ptr %in
  %q = getelementptr float, ptr %out, i64 %i
  store float %f, ptr %q
  ret void
}

; What is written is not loaded by ld.global.nc.
define ptx_kernel void @updates(ptr %a, ptr %b) {
  store float 1.0, ptr %a
  %f = load float, ptr %b
  store float 2.0, ptr %b
  store float %f, ptr %a
  ret void
}

; The pointer is kept somewhere: who knows what is done with it.
define ptx_kernel void @kept(ptr %a, ptr %b) {
  store ptr %b, ptr %a
  %f = load float, ptr %b
  store float %f, ptr %a
  ret void
}

; The programmer has said it.
define ptx_kernel void @said(ptr noalias %a, ptr noalias readonly %b) {
  store float 1.0, ptr %a
  %f = load float, ptr %b
  store float %f, ptr %a
  ret void
}

; A structure by value is the kernel's own.
define ptx_kernel void @by_value(ptr %out, ptr byval(%struct.Params) %p) {
  store float 1.0, ptr %out
  %f = load float, ptr %p
  store float %f, ptr %out
  ret void
}

; Shared memory is no buffer.
@tile = internal addrspace(3) global [32 x float] poison
define ptx_kernel void @in_shared(ptr %in) {
  store float 1.0, ptr addrspacecast (ptr addrspace(3) @tile to ptr)
  %f = load float, ptr %in
  store float %f, ptr addrspacecast (ptr addrspace(3) @tile to ptr)
  ret void
}

; Threads of a block may wait for each other.
define ptx_kernel void @with_barrier(ptr %out, ptr %in) {
  store float 1.0, ptr %out
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %f = load float, ptr %in
  store float %f, ptr %out
  ret void
}

; Memory may change while these run, and they may find out.
define ptx_kernel void @looks(ptr %out, ptr %in, ptr %flag) {
  store float 1.0, ptr %out
  %set = load volatile i32, ptr %flag
  %f = load float, ptr %in
  store float %f, ptr %out
  ret void
}

define ptx_kernel void @fences(ptr %out, ptr %in) {
  store float 1.0, ptr %out
  call void @llvm.nvvm.membar.gl()
  %f = load float, ptr %in
  store float %f, ptr %out
  ret void
}

define ptx_kernel void @fences_in_ir(ptr %out, ptr %in) {
  store float 1.0, ptr %out
  fence acquire
  %f = load float, ptr %in
  store float %f, ptr %out
  ret void
}

define ptx_kernel void @acquires(ptr %out, ptr %in, ptr %flag) {
  store float 1.0, ptr %out
  %old = atomicrmw add ptr %flag, i32 1 acquire
  %f = load float, ptr %in
  store float %f, ptr %out
  ret void
}

define ptx_kernel void @waits(ptr %out, ptr %in, ptr %flag) {
entry:
  store float 1.0, ptr %out
  br label %loop

loop:
  %old = atomicrmw add ptr %flag, i32 0 seq_cst
  %set = icmp ne i32 %old, 0
  br i1 %set, label %end, label %loop

end:
  %f = load float, ptr %in
  store float %f, ptr %out
  ret void
}

define ptx_kernel void @in_assembly(ptr %out, ptr %in) {
  store float 1.0, ptr %out
  call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"()
  %f = load float, ptr %in
  store float %f, ptr %out
  ret void
}

declare void @unknown()
define ptx_kernel void @calls(ptr %out, ptr %in) {
  store float 1.0, ptr %out
  call void @unknown()
  %f = load float, ptr %in
  store float %f, ptr %out
  ret void
}

; Without optimisation there is none.
define ptx_kernel void @plain(ptr %out, ptr %in) noinline optnone {
  store float 1.0, ptr %out
  %f = load float, ptr %in
  store float %f, ptr %out
  ret void
}

; A number that is counted is no fence.
define ptx_kernel void @counts(ptr %out, ptr %in, ptr %number) {
  %at = atomicrmw add ptr %number, i32 1 seq_cst
  %f = load float, ptr %in
  %q = getelementptr float, ptr %out, i32 %at
  store float %f, ptr %q
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.membar.gl()

attributes #0 = { "nvvm.maxntid"="256" }

; The load leaves the loop, and the block's largest size is kept.
; CHECK-LABEL: define ptx_kernel void @__dragon_restrict_in_loop(
; CHECK-SAME: ptr noalias %out, ptr noalias readonly %factor, i64 %n) #[[WITH_BOUND:[0-9]+]]
; CHECK: load float, ptr %factor
; CHECK: loop:
; CHECK-NOT: load
; CHECK: ret void

; CHECK-LABEL: define ptx_kernel void @__dragon_restrict_straight(ptr noalias %out, ptr noalias readonly %in, i64 %i)
; CHECK-LABEL: define ptx_kernel void @__dragon_restrict_with_barrier(ptr noalias %out, ptr noalias readonly %in)
; CHECK-LABEL: define ptx_kernel void @__dragon_restrict_counts(
; CHECK-SAME: ptr noalias %out, ptr noalias readonly %in, ptr noalias %number)
; CHECK: attributes #[[WITH_BOUND]] = { "nvvm.maxntid"="256" }
