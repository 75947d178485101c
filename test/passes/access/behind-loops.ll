; What is behind a loop goes on with the position that the loop has counted: there the last iteration is a variable of its own, in which
; the loop's condition held, and does no more with the next one; or there was no iteration.
; RUN: %dragon-opt-passes -passes='print<dragon-kernel-access>' -disable-output %s 2>&1 | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; The rest of a loop of two steps.
; CHECK-LABEL: kernel rest
; CHECK:         read exact 4 bytes at {{.*}}*k0
; CHECK-NEXT:      while {{.*}}trunc32(k0) <s arg2
; CHECK:         read 4 bytes at 4*zext64(tid.x){{$}}
; CHECK-NEXT:      if arg2 <=s arg3 + tid.x
; CHECK-NEXT:      if tid.x <s arg2
; CHECK-NEXT:    read 4 bytes at {{.*}}(k1 + 1)
; CHECK-NEXT:      while {{.*}}trunc32(k1) <s arg2
; CHECK-NEXT:      if arg2 <=s {{.*}}trunc32(k1 + 1)
; CHECK-NEXT:      if {{.*}}trunc32(k1 + 1) <s arg2
define ptx_kernel void @rest(ptr %x, ptr %out, i32 %n, i32 %step) {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %twice = shl i32 %step, 1
  br label %head
head:
  %i = phi i32 [ %thread, %entry ], [ %next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %second = add nsw i32 %i, %step
  %goes = icmp slt i32 %second, %n
  br i1 %goes, label %body, label %behind
body:
  %w = sext i32 %i to i64
  %p = getelementptr i32, ptr %x, i64 %w
  %v = load i32, ptr %p
  %more = add i32 %sum, %v
  %next = add nsw i32 %i, %twice
  br label %head
behind:
  %any = icmp slt i32 %i, %n
  br i1 %any, label %last, label %end
last:
  %z = sext i32 %i to i64
  %q = getelementptr i32, ptr %x, i64 %z
  %u = load i32, ptr %q
  br label %end
end:
  %rest = phi i32 [ 0, %behind ], [ %u, %last ]
  %all = add i32 %sum, %rest
  store i32 %all, ptr %out
  ret void
}

; A search: it is left in the middle, and what held there held in the last iteration.
; CHECK-LABEL: kernel search
; CHECK:         out (argument 1)
; CHECK-NEXT:    write conditional (unsaid) 4 bytes at 0
; CHECK-NEXT:      if tid.x <s arg2
; CHECK-NEXT:    write conditional (unsaid) 4 bytes at 0
; CHECK-NEXT:      while {{.*}}trunc32(k1) <s arg2
; CHECK-NEXT:      if {{.*}}trunc32(k1 + 1) <s arg2
define ptx_kernel void @search(ptr %x, ptr %out, i32 %n, i32 %step) {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %head
head:
  %i = phi i32 [ %thread, %entry ], [ %next, %body ]
  %goes = icmp slt i32 %i, %n
  br i1 %goes, label %test, label %end
test:
  %w = sext i32 %i to i64
  %p = getelementptr i32, ptr %x, i64 %w
  %v = load i32, ptr %p
  %here = icmp eq i32 %v, 7
  br i1 %here, label %found, label %body
body:
  %next = add nsw i32 %i, %step
  br label %head
found:
  store i32 %i, ptr %out
  br label %end
end:
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
