; A thread may hand on a value that it has not set: nobody says of arguments, results and loads in device code that they are defined.
; RUN: %dragon-opt-passes -passes='dragon-allow-undefined,verify' -S %s | FileCheck %s
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %s | %dragon-opt-passes -passes='dragon-allow-undefined,verify' -S | FileCheck %s --check-prefix=HOST
; The branch that only lane 0 takes stays, and goes where arguments are said to be defined.
; RUN: %dragon-opt-passes -passes='dragon-allow-undefined,function(simplifycfg)' -S %s | FileCheck %s --check-prefix=KEPT
; RUN: %dragon-opt-passes -passes='function(simplifycfg)' -S %s | FileCheck %s --check-prefix=GONE

target triple = "nvptx64-nvidia-cuda"

; CHECK: define internal range(i32 0, 9) i32 @broadcast(i32 %value)
; HOST:  define internal noundef range(i32 0, 9) i32 @broadcast(i32 noundef %value)
define internal noundef range(i32 0, 9) i32 @broadcast(i32 noundef %value) noinline {
  %result = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %value, i32 0, i32 31)
  ret i32 %result
}

; CHECK-LABEL: define void @take(
; CHECK-SAME:    ptr nonnull %next)
; CHECK:         %flag = load i8, ptr %next, align 1, !range
; CHECK-NOT:     noundef
; HOST-LABEL:  define void @take(
; HOST:          !noundef
; HOST:          call noundef i32 @broadcast(i32 noundef %item)
; KEPT-LABEL: define void @take(
; KEPT:         br i1
; KEPT:         atomicrmw
; GONE-LABEL: define void @take(
; GONE-NOT:     br i1
; GONE:         ret void
define void @take(ptr noundef nonnull %next) {
  %flag = load i8, ptr %next, !range !0, !noundef !1
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = icmp eq i32 %lane, 0
  br i1 %first, label %add, label %all
add:
  %old = atomicrmw add ptr %next, i32 1 seq_cst
  br label %all
all:
  %item = phi i32 [ %old, %add ], [ undef, %0 ]
  %taken = call noundef i32 @broadcast(i32 noundef %item)
  %wide = zext i8 %flag to i32
  %sum = add i32 %wide, %taken
  store i32 %sum, ptr %next
  ret void
}

!0 = !{i8 0, i8 2}
!1 = !{}
