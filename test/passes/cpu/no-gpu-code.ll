; Where only the kernels for the host processor and the summaries are wanted,
; the device code is emptied: nobody optimises it.
; RUN: %dragon-opt-passes -passes='dragon-pipeline,verify' -dragon-gpu-code=0 -dragon-cpu-out=%t.bc -S %s | FileCheck %s
; RUN: llvm-dis %t.bc -o - | FileCheck %s --check-prefix=CPU

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@llvm.compiler.used = appending global [1 x ptr] [ptr @k], section "llvm.metadata"

; CHECK:      define ptx_kernel void @k(ptr %p) {
; CHECK-NEXT: entry:
; CHECK-NEXT:   unreachable
; CPU-LABEL:  define internal void @k.thread(
; CPU:          store i32 %v, ptr %p
define ptx_kernel void @k(ptr %p) {
  %v = call i32 @one()
  store i32 %v, ptr %p
  ret void
}

; CHECK:      define internal i32 @one()
; CHECK-NEXT: entry:
; CHECK-NEXT:   unreachable
define internal i32 @one() alwaysinline {
  ret i32 1
}
