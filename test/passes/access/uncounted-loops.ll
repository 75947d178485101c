; Addresses that say nothing of the loop that the accesses are in: a condition says how often they happen, where arguments tell it.
; RUN: %dragon-opt-passes -passes='print<dragon-kernel-access>' -disable-output %s 2>&1 | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; A generator of random numbers in each thread.
; CHECK-LABEL: kernel random
; CHECK:       atomic {{.*}}carried(
; CHECK-NEXT:    if 0 <s arg2
; CHECK-NEXT:    if k0 <=u zext64(-1 + arg2)
define ptx_kernel void @random(ptr %table, i32 %mask, i32 %steps) {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %any = icmp sgt i32 %steps, 0
  br i1 %any, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %r = phi i32 [ %thread, %entry ], [ %s, %loop ]
  %m = mul i32 %r, 1664525
  %s = add i32 %m, 1013904223
  %h = lshr i32 %s, 6
  %k = and i32 %h, %mask
  %w = zext i32 %k to i64
  %p = getelementptr i32, ptr %table, i64 %w
  %old = atomicrmw xor ptr %p, i32 %s monotonic
  %next = add nuw nsw i32 %i, 1
  %goes = icmp slt i32 %next, %steps
  br i1 %goes, label %loop, label %end
end:
  ret void
}

; Nobody knows how often: the end is data as well.
; CHECK-LABEL: kernel follow
; CHECK:       read
; CHECK-NOT:     k0
define ptx_kernel void @follow(ptr %list, ptr %out) {
entry:
  br label %loop
loop:
  %at = phi i32 [ 0, %entry ], [ %next, %loop ]
  %w = zext i32 %at to i64
  %p = getelementptr i32, ptr %list, i64 %w
  %next = load i32, ptr %p
  %goes = icmp ne i32 %next, 0
  br i1 %goes, label %loop, label %end
end:
  store i32 %at, ptr %out
  ret void
}

; The address counts the iterations itself.
; CHECK-LABEL: kernel gathers
; CHECK:       read {{.*}}mem32[arg1 + 4*{{.*}}k0
; CHECK-NOT:     k0 <=u
define ptx_kernel void @gathers(ptr %table, ptr %index, ptr %out, i32 %n) {
entry:
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %w = zext i32 %i to i64
  %q = getelementptr i32, ptr %index, i64 %w
  %at = load i32, ptr %q
  %x = zext i32 %at to i64
  %p = getelementptr i32, ptr %table, i64 %x
  %v = load i32, ptr %p
  store i32 %v, ptr %out
  %next = add nuw nsw i32 %i, 1
  %goes = icmp slt i32 %next, %n
  br i1 %goes, label %loop, label %end
end:
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
