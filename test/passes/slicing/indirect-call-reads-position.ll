; A call through a pointer may reach a function that reads the position: its
; signature cannot change, so the kernel is not sliced.
; RUN: %dragon-opt-passes -passes='print<dragon-slice-legality>' -disable-output %s 2>&1 | FileCheck %s
; RUN: %dragon-opt-passes -passes=dragon-slice-kernels -S %s | FileCheck %s --check-prefix=IR

target triple = "nvptx64-nvidia-cuda"

@table = addrspace(1) global [1 x ptr] [ptr @outer]

; CHECK: kernel 'indirect': not sliceable: calls through a pointer, which may reach 'outer'
; IR-NOT: __dragon_slice_indirect
define ptx_kernel void @indirect(i32 %i) {
  %slot = getelementptr ptr, ptr addrspacecast (ptr addrspace(1) @table to ptr), i32 %i
  %f = load ptr, ptr %slot
  call void %f()
  ret void
}

; CHECK: kernel 'direct': sliceable by a clone
; IR: define ptx_kernel void @__dragon_slice_direct(
define ptx_kernel void @direct() {
  call void @outer()
  ret void
}

define internal void @outer() {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
