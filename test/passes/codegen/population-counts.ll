; A loop that takes one bit of a word away each time is one instruction.
; RUN: %dragon-opt-passes -passes='default<O2>' -S %s | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @bits(
; CHECK:         call {{.*}}i64 @llvm.ctpop.i64(i64 %v)
; CHECK-NOT:     phi
; CHECK:         ret void
define ptx_kernel void @bits(i64 %v, ptr %to) {
entry:
  br label %head
head:
  %left = phi i64 [ %v, %entry ], [ %less, %body ]
  %count = phi i32 [ 0, %entry ], [ %next, %body ]
  %any = icmp ne i64 %left, 0
  br i1 %any, label %body, label %done
body:
  %minus = sub i64 %left, 1
  %less = and i64 %left, %minus
  %next = add i32 %count, 1
  br label %head
done:
  store i32 %count, ptr %to
  ret void
}
