; Loads of device memory come in front of their block, as far as registers go and nothing changes what they read.
; RUN: %dragon-opt-passes -passes='function(dragon-early-loads),verify' -S %s | FileCheck %s
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %s | %dragon-opt-passes -passes='function(dragon-early-loads),verify' -S | FileCheck %s --check-prefix=HOST

target triple = "nvptx64-nvidia-cuda"

@shared = internal addrspace(3) global [256 x float] undef, align 4

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @ends()

; What computes the address comes along; the uses stay behind.
; CHECK-LABEL: define float @direct(
; CHECK:         %x = load
; CHECK-NEXT:    %place = getelementptr
; CHECK-NEXT:    %y = load
; CHECK-NEXT:    %twice = fmul
; HOST-LABEL: define float @direct(
; HOST:         %x = load
; HOST-NEXT:    %twice = fmul
define float @direct(ptr %a) {
  %x = load float, ptr %a
  %twice = fmul float %x, 2.0
  %place = getelementptr float, ptr %a, i64 1
  %y = load float, ptr %place
  %sum = fadd float %twice, %y
  ret float %sum
}

; Loads whose addresses were loaded come behind all whose addresses are at hand.
; CHECK-LABEL: define float @indirect(
; CHECK:         %i = load i64
; CHECK-NEXT:    %next = getelementptr
; CHECK-NEXT:    %j = load i64
; CHECK-NEXT:    %a.i = getelementptr
; CHECK-NEXT:    %x = load float
; CHECK-NEXT:    %a.j = getelementptr
; CHECK-NEXT:    %y = load float
; CHECK-NEXT:    %root = fmul
define float @indirect(ptr %a, ptr %index) {
  %i = load i64, ptr %index
  %a.i = getelementptr float, ptr %a, i64 %i
  %x = load float, ptr %a.i
  %root = fmul float %x, %x
  %next = getelementptr i64, ptr %index, i64 1
  %j = load i64, ptr %next
  %a.j = getelementptr float, ptr %a, i64 %j
  %y = load float, ptr %a.j
  %sum = fadd float %root, %y
  ret float %sum
}

; A store may change what the next load reads, unless that is known not to change; behind the store loads come together again.
; CHECK-LABEL: define void @stores(
; CHECK:         %x = load float, ptr %a
; CHECK-NEXT:    %c.1 = getelementptr
; CHECK-NEXT:    %k = load float, ptr %c.1, align 4, !invariant.load
; CHECK-NEXT:    store float %x, ptr %b
; CHECK-NEXT:    %a.1 = getelementptr
; CHECK-NEXT:    %y = load
; CHECK-NEXT:    %a.2 = getelementptr
; CHECK-NEXT:    %z = load
; CHECK-NEXT:    %yy = fmul
define void @stores(ptr %a, ptr %b, ptr %c) {
  %x = load float, ptr %a
  store float %x, ptr %b
  %a.1 = getelementptr float, ptr %a, i64 1
  %y = load float, ptr %a.1
  %yy = fmul float %y, %y
  %a.2 = getelementptr float, ptr %a, i64 2
  %z = load float, ptr %a.2
  %c.1 = getelementptr float, ptr %c, i64 1
  %k = load float, ptr %c.1, align 4, !invariant.load !0
  %sum = fadd float %yy, %z
  %all = fadd float %sum, %k
  store float %all, ptr %b
  ret void
}

; Nothing passes a barrier that other threads' writes may come before, nor a call that may not return.
; CHECK-LABEL: define float @barrier(
; CHECK:         %x = load
; CHECK-NEXT:    call void @llvm.nvvm.barrier
; CHECK-NEXT:    %y = load
; CHECK-NEXT:    call void @ends
; CHECK-NEXT:    %z = load
define float @barrier(ptr %a, ptr %b, ptr %c) {
  %x = load float, ptr %a
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %y = load float, ptr %b
  call void @ends()
  %z = load float, ptr %c, align 4, !invariant.load !0
  %xy = fadd float %x, %y
  %sum = fadd float %xy, %z
  ret float %sum
}

; Shared memory is near; volatile loads stay where they are.
; CHECK-LABEL: define float @others(
; CHECK:         %x = load float, ptr %a
; CHECK-NEXT:    %y = load float, ptr %c
; CHECK-NEXT:    %xx = fmul
; CHECK-NEXT:    %s = load float, ptr addrspacecast
; CHECK-NEXT:    %v = load volatile
define float @others(ptr %a, ptr %b, ptr %c) {
  %x = load float, ptr %a
  %xx = fmul float %x, %x
  %s = load float, ptr addrspacecast (ptr addrspace(3) @shared to ptr)
  %v = load volatile float, ptr %b
  %y = load float, ptr %c, align 4, !invariant.load !0
  %1 = fadd float %xx, %s
  %2 = fadd float %1, %v
  %3 = fadd float %2, %y
  ret float %3
}

; 24 registers, and no more: six vectors of four.
; CHECK-LABEL: define <4 x float> @many(
; CHECK-COUNT-6:      load <4 x float>
; CHECK:              %s1 = fadd
; CHECK:              %s5 = fadd
; CHECK-NEXT:         %x6 = load
define <4 x float> @many(ptr %a) {
  %a1 = getelementptr <4 x float>, ptr %a, i64 1
  %a2 = getelementptr <4 x float>, ptr %a, i64 2
  %a3 = getelementptr <4 x float>, ptr %a, i64 3
  %a4 = getelementptr <4 x float>, ptr %a, i64 4
  %a5 = getelementptr <4 x float>, ptr %a, i64 5
  %a6 = getelementptr <4 x float>, ptr %a, i64 6
  %x0 = load <4 x float>, ptr %a
  %x1 = load <4 x float>, ptr %a1
  %s1 = fadd <4 x float> %x0, %x1
  %x2 = load <4 x float>, ptr %a2
  %s2 = fadd <4 x float> %s1, %x2
  %x3 = load <4 x float>, ptr %a3
  %s3 = fadd <4 x float> %s2, %x3
  %x4 = load <4 x float>, ptr %a4
  %s4 = fadd <4 x float> %s3, %x4
  %x5 = load <4 x float>, ptr %a5
  %s5 = fadd <4 x float> %s4, %x5
  %x6 = load <4 x float>, ptr %a6
  %s6 = fadd <4 x float> %s5, %x6
  ret <4 x float> %s6
}

!0 = !{}
