; Loops that only another thread can end make their kernel run on fibers, and let
; the others run; retries only do the latter.
; RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: ptr @waits, i32 1, i32 0 }
; CHECK-SAME: ptr @retries, i32 0, i32 0 }
; CHECK-SAME: ptr @counts, i32 0, i32 0 }

; CHECK-LABEL: define internal void @waits.thread(
; CHECK:         load volatile i32
; CHECK-NEXT:    icmp
; CHECK-NEXT:    call void @dragon_cpu_yield(ptr %dragon.context, i32 1)
; CHECK-NEXT:    br i1
define ptx_kernel void @waits(ptr %flag) {
entry:
  br label %wait
wait:
  %v = load volatile i32, ptr %flag
  %go = icmp eq i32 %v, 0
  br i1 %go, label %wait, label %out
out:
  ret void
}

; CHECK-LABEL: define internal void @retries.thread(
; CHECK:         call void @dragon_cpu_yield(ptr {{.*}}%dragon.context, i32 0)
define ptx_kernel void @retries(ptr %lock) {
entry:
  br label %retry
retry:
  %pair = cmpxchg ptr %lock, i32 0, i32 1 seq_cst seq_cst
  %ok = extractvalue { i32, i1 } %pair, 1
  br i1 %ok, label %out, label %retry
out:
  ret void
}

; CHECK-LABEL: define internal void @counts.thread(
; CHECK-NOT:     dragon_cpu_yield
; CHECK:         ret void
define ptx_kernel void @counts(ptr %a, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr %a
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %out
out:
  ret void
}
