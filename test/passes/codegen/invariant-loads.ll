; Loads through arguments that nothing the kernel writes leads to are invariant.
; RUN: %dragon-opt-passes -passes='function(dragon-invariant-loads),verify' -S %s | FileCheck %s
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %s | %dragon-opt-passes -passes='function(dragon-invariant-loads),verify' -S | FileCheck %s --check-prefix=HOST
; HOST-NOT: !invariant.load

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @split(
; CHECK:         %own = load float, ptr %a
; CHECK-NOT:     !invariant.load
; CHECK:         %x = load float, ptr %p, align 4, !invariant.load
; CHECK:         ret void
define ptx_kernel void @split(ptr %in, ptr noalias %a, i32 %i) {
  %own = load float, ptr %a
  %p = getelementptr float, ptr %in, i32 %i
  %x = load float, ptr %p
  %sum = fadd float %own, %x
  store float %sum, ptr %a
  ret void
}

; What is written may be what is read.
; CHECK-LABEL: define ptx_kernel void @plain(
; CHECK-NOT:     !invariant.load
; CHECK:         ret void
define ptx_kernel void @plain(ptr %in, ptr %a) {
  %x = load float, ptr %in
  store float %x, ptr %a
  ret void
}

; Who waits for others may be told what they have written.
; CHECK-LABEL: define ptx_kernel void @waits(
; CHECK-NOT:     !invariant.load
; CHECK:         ret void
define ptx_kernel void @waits(ptr %in, ptr noalias %a) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %x = load float, ptr %in
  store float %x, ptr %a
  ret void
}

; Volatile; and a function that is no kernel knows its caller's accesses not.
; CHECK-LABEL: define ptx_kernel void @volatile(
; CHECK-NOT:     !invariant.load
; CHECK-LABEL: define void @function(
; CHECK-NOT:     !invariant.load
; CHECK:         ret void
define ptx_kernel void @volatile(ptr %in, ptr noalias %a) {
  %x = load volatile float, ptr %in
  store float %x, ptr %a
  ret void
}
define void @function(ptr %in, ptr noalias %a) {
  %x = load float, ptr %in
  store float %x, ptr %a
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
