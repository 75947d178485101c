; A kernel that can be cut along a loop, and whose addresses are data: its copy that runs part of the loop has one that fetches pages. In
; code for GPUs the slice clones stand for both.
; RUN: rm -rf %t.dir && mkdir -p %t.dir
; RUN: %dragon-opt-passes -passes='default<O2>' -dragon-restrict=0 -dragon-summary=%t.dir/s -S %s -o %t.dir/out.ll
; RUN: grep -o '^define ptx_kernel void @[a-z_]*' %t.dir/out.ll | sort | FileCheck %s
; RUN: grep '@llvm.compiler.used' %t.dir/out.ll | FileCheck %s --check-prefix=USED
; RUN: %dragon-opt-passes -passes='default<O2>' -dragon-restrict=0 -dragon-access-count-limit=20 -dragon-summary=%t.dir/s -S %s \
; RUN:   | FileCheck %s --check-prefix=LARGE

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK:      define ptx_kernel void @__dragon_count_looks
; CHECK-NEXT: define ptx_kernel void @__dragon_paged_looks
; CHECK-NEXT: define ptx_kernel void @__dragon_slice___dragon_loop_looks
; CHECK-NEXT: define ptx_kernel void @__dragon_slice___dragon_paged___dragon_loop_looks
; CHECK-NEXT: define ptx_kernel void @__dragon_slice___dragon_paged_looks
; CHECK-NEXT: define ptx_kernel void @__dragon_slice_looks
; CHECK-NEXT: define ptx_kernel void @looks
; CHECK-NOT:  define
; USED-NOT: @__dragon_loop_looks
; USED-NOT: @__dragon_paged___dragon_loop_looks
; USED: @__dragon_slice___dragon_paged___dragon_loop_looks

; Where the kernel is too large for a copy that fetches pages there is none of its loop.
; LARGE-NOT: @__dragon_{{.*}}paged

@llvm.compiler.used = appending global [1 x ptr] [ptr @looks], section "llvm.metadata"

define ptx_kernel void @looks(ptr %table, ptr %index, ptr %out, i32 %n) #0 {
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %first = mul i32 %block, %size
  %from = add i32 %first, %thread
  %step = mul i32 %blocks, %size
  br label %head
head:
  %i = phi i32 [ %from, %entry ], [ %next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %goes = icmp slt i32 %i, %n
  br i1 %goes, label %body, label %behind
body:
  %p = getelementptr i32, ptr %index, i32 %i
  %at = load i32, ptr %p
  %q = getelementptr i32, ptr %table, i32 %at
  %v = load i32, ptr %q
  %more = add i32 %sum, %v
  %next = add nsw i32 %i, %step
  br label %head
behind:
  %o = getelementptr i32, ptr %out, i32 %from
  store i32 %sum, ptr %o
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
attributes #0 = { "target-cpu"="sm_90" }
