; A kernel that the compiler must keep: so are its copies, but for the one that code for a GPU has no use for.
; RUN: rm -rf %t.dir && mkdir -p %t.dir
; RUN: %dragon-opt-passes -passes='dragon-pipeline,verify' -dragon-access-counts=0 -dragon-restrict=0 -dragon-summary=%t.dir/s -S %s \
; RUN:   | FileCheck %s
; RUN: %dragon-opt-passes -passes='default<O2>' -dragon-access-counts=0 -dragon-restrict=0 -dragon-summary=%t.dir/s -S %s \
; RUN:   | FileCheck %s --check-prefix=GPU

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: @llvm.compiler.used = appending global [2 x ptr] [ptr @sums, ptr @__dragon_loop_sums]
; CHECK: define ptx_kernel void @__dragon_loop_sums(
; GPU-NOT: @__dragon_loop_sums
; GPU:     @llvm.compiler.used = {{.*}}@__dragon_slice___dragon_loop_sums
; GPU-NOT: @__dragon_loop_sums
@llvm.compiler.used = appending global [1 x ptr] [ptr @sums], section "llvm.metadata"

define ptx_kernel void @sums(ptr %x, i32 %n, ptr %out) #0 {
entry:
  %from = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %step = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  br label %head
head:
  %i = phi i32 [ %from, %entry ], [ %next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %goes = icmp slt i32 %i, %n
  br i1 %goes, label %body, label %behind
body:
  %p = getelementptr i32, ptr %x, i32 %i
  %v = load i32, ptr %p
  %more = add i32 %sum, %v
  %next = add nsw i32 %i, %step
  br label %head
behind:
  %old = atomicrmw add ptr %out, i32 %sum seq_cst
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
attributes #0 = { "target-cpu"="sm_90" }
