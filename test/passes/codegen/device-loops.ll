; Loops of device code are unrolled as nvcc does: by 4 if the number of
; iterations is not known, entirely if it is known and the result is small.
; RUN: %dragon-opt-passes -passes='function(dragon-unroll),verify' -S %s | FileCheck %s
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %s | %dragon-opt-passes -passes='function(dragon-unroll),verify' -S | FileCheck %s --check-prefix=HOST

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; The number of iterations takes a division, in front of the loop.
; CHECK-LABEL: define float @stride(
; CHECK:         udiv i32
; CHECK:         load float
; CHECK-NEXT:    fadd
; CHECK:         load float
; CHECK:         load float
; CHECK:         load float
; CHECK:         load float
; CHECK-NOT:     load float
; CHECK:         ret float
; HOST-LABEL: define float @stride(
; HOST:          load float
; HOST-NOT:      load float
; HOST:          ret float
define float @stride(ptr %a, i32 %first, i32 %n, i32 %threads) mustprogress {
entry:
  %any = icmp slt i32 %first, %n
  br i1 %any, label %loop, label %done
loop:
  %i = phi i32 [ %first, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %added, %loop ]
  %p = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %p
  %added = fadd float %sum, %v
  %next = add nsw i32 %i, %threads
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %result = phi float [ 0.0, %entry ], [ %added, %loop ]
  ret float %result
}

; 64 iterations of few instructions.
; CHECK-LABEL: define i64 @bits(
; CHECK-NOT:     phi
; CHECK:         ret i64
define i64 @bits(i64 %x) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %left = phi i64 [ %x, %entry ], [ %shifted, %loop ]
  %count = phi i64 [ 0, %entry ], [ %counted, %loop ]
  %bit = and i64 %left, 1
  %counted = add i64 %count, %bit
  %shifted = lshr i64 %left, 1
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, 64
  br i1 %more, label %loop, label %done
done:
  ret i64 %counted
}

; 4 iterations at a time, then one.
; CHECK-LABEL: define float @each(
; CHECK-NOT:     udiv
; CHECK-COUNT-5: load float
; CHECK-NOT:     load float
; CHECK:         ret float
define float @each(ptr %a, i32 %n) mustprogress {
entry:
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %loop, label %done
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %added, %loop ]
  %p = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %p
  %added = fadd float %sum, %v
  %next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %result = phi float [ 0.0, %entry ], [ %added, %loop ]
  ret float %result
}

; 6000 iterations are too many. They are unrolled by the largest number up to 32
; that divides 6000, and nothing remains.
; CHECK-LABEL: define i64 @many(
; CHECK-COUNT-20: lshr i64 {{.*}}, 1
; CHECK-NOT:     lshr
; CHECK:         ret i64
define i64 @many(i64 %x) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %left = phi i64 [ %x, %entry ], [ %mixed, %loop ]
  %shifted = lshr i64 %left, 1
  %mixed = xor i64 %shifted, %x
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, 6000
  br i1 %more, label %loop, label %done
done:
  ret i64 %mixed
}

; Loops that stay: threads wait for each other in it, it calls a function, the
; user says how, it has another way out.
; CHECK-LABEL: define void @waits(
; CHECK:         call void @llvm.nvvm.barrier
; CHECK-NOT:     call void @llvm.nvvm.barrier
; CHECK:         ret void
define void @waits(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; CHECK-LABEL: define void @calls(
; CHECK:         call void @work
; CHECK-NOT:     call void @work
; CHECK:         ret void
define void @calls(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void @work(i32 %i)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; CHECK-LABEL: define void @told(
; CHECK:         store i32
; CHECK-NOT:     store i32
; CHECK:         ret void
define void @told(ptr %a, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr i32, ptr %a, i32 %i
  store i32 %i, ptr %p
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done, !llvm.loop !0
done:
  ret void
}

; CHECK-LABEL: define i32 @finds(
; CHECK:         load i32
; CHECK-NOT:     load i32
; CHECK:         ret i32
define i32 @finds(ptr %a, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %p = getelementptr i32, ptr %a, i32 %i
  %v = load i32, ptr %p
  %found = icmp eq i32 %v, 0
  br i1 %found, label %done, label %latch
latch:
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %result = phi i32 [ %i, %loop ], [ -1, %latch ]
  ret i32 %result
}

; Registers cannot be indexed: a local array is in memory as long as there is
; the loop, be there calls and other loops in it.
; CHECK-LABEL: define void @array(
; CHECK-COUNT-8: call void @work(
; CHECK-NOT:     call void @work(
; CHECK:         ret void
define void @array(i32 %n) {
entry:
  %data = alloca [8 x i32]
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %p = getelementptr [8 x i32], ptr %data, i32 0, i32 %i
  %v = load i32, ptr %p
  call void @work(i32 %v)
  br label %inner
inner:
  %j = phi i32 [ %v, %loop ], [ %less, %inner ]
  %less = lshr i32 %j, 1
  %again = icmp ne i32 %less, 0
  br i1 %again, label %inner, label %latch
latch:
  store i32 %j, ptr %p
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, 8
  br i1 %more, label %loop, label %done
done:
  ret void
}

; What constant memory has at a known address is an operand, so 512 iterations
; are 512 instructions.
; CHECK-LABEL: define i32 @constants(
; CHECK-COUNT-511: add i32 %
; CHECK-NOT:     phi
; CHECK:         ret i32
define i32 @constants() {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %added, %loop ]
  %p = getelementptr [512 x i32], ptr addrspace(4) @table, i32 0, i32 %i
  %v = load i32, ptr addrspace(4) %p
  %added = add i32 %sum, %v
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, 512
  br i1 %more, label %loop, label %done
done:
  ret i32 %added
}

; The threads of a block have a part each: few iterations.
; CHECK-LABEL: define float @share(
; CHECK:         load float
; CHECK-NOT:     load float
; CHECK:         ret float
define float @share(ptr %a, i32 %n) mustprogress {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %any = icmp slt i32 %thread, %n
  br i1 %any, label %loop, label %done
loop:
  %i = phi i32 [ %thread, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %added, %loop ]
  %p = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %p
  %added = fadd float %sum, %v
  %next = add nuw nsw i32 %i, 32
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %result = phi float [ 0.0, %entry ], [ %added, %loop ]
  ret float %result
}

; What begins at a thread's number has as many as any.
; CHECK-LABEL: define float @behind(
; CHECK-COUNT-5: load float
; CHECK-NOT:     load float
; CHECK:         ret float
define float @behind(ptr %a, i32 %n) mustprogress {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %any = icmp slt i32 %thread, %n
  br i1 %any, label %loop, label %done
loop:
  %i = phi i32 [ %thread, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %added, %loop ]
  %p = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %p
  %added = fadd float %sum, %v
  %next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %result = phi float [ 0.0, %entry ], [ %added, %loop ]
  ret float %result
}

; Who counts in 64 bits expects many.
; CHECK-LABEL: define float @long(
; CHECK-COUNT-5: load float
; CHECK-NOT:     load float
; CHECK:         ret float
define float @long(ptr %a, i64 %n) mustprogress {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = zext i32 %thread to i64
  %any = icmp slt i64 %first, %n
  br i1 %any, label %loop, label %done
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %added, %loop ]
  %p = getelementptr float, ptr %a, i64 %i
  %v = load float, ptr %p
  %added = fadd float %sum, %v
  %next = add nuw nsw i64 %i, 32
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  %result = phi float [ 0.0, %entry ], [ %added, %loop ]
  ret float %result
}

; The threads of a grid share long ones.
; CHECK-LABEL: define float @gridStride(
; CHECK-COUNT-5: load float
; CHECK-NOT:     load float
; CHECK:         ret float
define float @gridStride(ptr %a, i32 %n) mustprogress {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %all = mul nuw nsw i32 %threads, %blocks
  %any = icmp slt i32 %thread, %n
  br i1 %any, label %loop, label %done
loop:
  %i = phi i32 [ %thread, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %added, %loop ]
  %p = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %p
  %added = fadd float %sum, %v
  %next = add nuw nsw i32 %i, %all
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %result = phi float [ 0.0, %entry ], [ %added, %loop ]
  ret float %result
}

; Divisions are many instructions, and 4 of them are not too many.
; CHECK-LABEL: define float @divides(
; CHECK-COUNT-4: fdiv float
; CHECK:         fdiv float
; CHECK-NOT:     fdiv float
; CHECK:         ret float
define float @divides(ptr %a, i32 %n) mustprogress {
entry:
  %any = icmp slt i32 0, %n
  br i1 %any, label %loop, label %done
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %added, %loop ]
  %p = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %p
  %q = fdiv float 1.0, %v
  %added = fadd float %sum, %q
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %result = phi float [ 0.0, %entry ], [ %added, %loop ]
  ret float %result
}

; The assembler makes a loop of the atomic.
; CHECK-LABEL: define void @adds(
; CHECK:         atomicrmw fadd
; CHECK-NOT:     atomicrmw
; CHECK:         br i1 %more, label %loop, label %done, !llvm.loop
; CHECK:         ret void
define void @adds(ptr %a, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %p
  %own = getelementptr float, ptr addrspacecast (ptr addrspace(3) @shared to ptr), i32 %i
  %old = atomicrmw fadd ptr %own, float %v monotonic
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; Nor does LLVM's own pass unroll once more what is unrolled. The assembler may,
; but for what remains of a loop and for loops with branches (@array's inner one
; is not ours).
; CHECK: ![[DISABLED:[0-9]+]] = !{!"llvm.loop.unroll.disable"}
; CHECK: !{!"dragon.loop.released", i32 0}
; RUN: %dragon-opt-passes -passes='function(dragon-unroll,dragon-release-loops),verify' -S %s | FileCheck %s --check-prefix=FREE
; FREE-LABEL: define float @each(
; FREE:        loop:
; FREE:          br i1 %{{.*}}, label %loop, label %{{[^,]*}}{{$}}
; FREE:          br i1 %{{.*}}, label %{{.*}}, !llvm.loop
; FREE:          ret float
; FREE-NOT:    dragon.loop.released
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
@table = external addrspace(4) global [512 x i32]
@shared = external addrspace(3) global [0 x float]
declare void @work(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
