; Kernels that wait at the block's barrier only: coroutines that take turns, with
; what they call inlined. Others are left to the runtime.
; RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' -S %s | FileCheck %s
; RUN: %dragon-opt-passes -passes='dragon-cpu-lower,default<O2>,verify' -S %s | FileCheck --check-prefix=SPLIT %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: ptr @barriers, i32 0, i32 0 }
; CHECK-SAME: ptr @recursive, i32 1, i32 0 }
; CHECK-SAME: ptr @grows, i32 1, i32 0 }
; CHECK-SAME: ptr @numbered, i32 1, i32 0 }
; CHECK-SAME: ptr @debugged, i32 1, i32 0 }
; CHECK-SAME: ptr @launches_itself, i32 0, i32 0 }

;
; The address of a kernel is for those that launch it: nobody calls it.
; CHECK-LABEL: define internal void @launches_itself.address(
; CHECK:         call void @dragon_cpu_unsupported(
; CHECK-NEXT:    unreachable

%pair = type { i32, i32 }

define internal void @callee() noinline {
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  ret void
}

; All threads begin, then those that are left go on, and votes move in between.
; CHECK-LABEL: define internal void @barriers(
; CHECK:         [[BEGUN:%.*]] = call ptr @barriers.thread(
; CHECK:         call i1 @llvm.coro.done(ptr [[BEGUN]])
; CHECK:       turn:
; CHECK:         store i32 {{.*}}
; CHECK:         [[LEFT:%.*]] = load ptr, ptr
; CHECK:         call i1 @llvm.coro.done(ptr [[LEFT]])
; CHECK:         call void @llvm.coro.resume(ptr [[LEFT]])
; CHECK:         br i1 %{{.*}}, label %turn, label %ended

; The structure is the thread's own, for as long as it runs.
; CHECK-LABEL: define internal ptr @barriers.thread(
; CHECK-SAME:    i32 %dragon.number, ptr %dragon.votes) {{.*}}[[ATTRIBUTES:#[0-9]+]]
; CHECK:         [[COPY:%.*]] = alloca %pair
; CHECK:         [[BYTES:%.*]] = call i64 @llvm.coro.size.i64()
; CHECK:         [[FRAME:%.*]] = call ptr @dragon_cpu_frame(i32 %dragon.number, i64 [[BYTES]])
; CHECK:         [[HANDLE:%.*]] = call ptr @llvm.coro.begin(token %{{.*}}, ptr [[FRAME]])
; CHECK:         call void @llvm.memcpy{{.*}}(ptr align 4 [[COPY]], ptr align 4 %p,
; CHECK:         [[AT:%.*]] = getelementptr inbounds i32, ptr %dragon.votes, i32 0
; CHECK:         [[COUNT:%.*]] = load i32, ptr [[AT]]
; CHECK:         [[SUM:%.*]] = add i32 [[COUNT]], %{{.*}}
; CHECK:         store i32 [[SUM]], ptr [[AT]]
; CHECK:         call i8 @llvm.coro.suspend(token none, i1 false)
; CHECK:         getelementptr inbounds i32, ptr %dragon.votes, i32 3
; CHECK:         call i8 @llvm.coro.suspend(token none, i1 false)
; CHECK-NOT:     call {{.*}}@callee
; CHECK:         call i8 @llvm.coro.suspend(token none, i1 true)
; CHECK:         call void @llvm.coro.end(ptr [[HANDLE]], i1 false, token none)
; CHECK-NEXT:    ret ptr [[HANDLE]]
define ptx_kernel void @barriers(ptr byval(%pair) align 4 %p, ptr %out, i1 %leaves, i1 %asked) {
  br i1 %leaves, label %left, label %stays
stays:
  store i32 7, ptr %p
  %n = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %asked)
  call void @callee()
  %v = load i32, ptr %p
  %s = add i32 %v, %n
  store i32 %s, ptr %out
  ret void
left:
  ret void
}

define internal void @itself(i32 %n) {
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %end = icmp eq i32 %n, 0
  br i1 %end, label %done, label %more
more:
  %m = sub i32 %n, 1
  call void @itself(i32 %m)
  ret void
done:
  ret void
}
define ptx_kernel void @recursive(i32 %n) {
  call void @itself(i32 %n)
  ret void
}

define ptx_kernel void @grows(i32 %n, ptr %out) {
  %a = alloca i32, i32 %n
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %v = load volatile i32, ptr %a
  store i32 %v, ptr %out
  ret void
}

define ptx_kernel void @numbered() {
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 3, i32 64)
  ret void
}

define ptx_kernel void @debugged() noinline optnone {
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  ret void
}

define ptx_kernel void @launches_itself(ptr %out) {
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  store ptr @launches_itself, ptr %out
  ret void
}

; CHECK:       attributes [[ATTRIBUTES]] = { {{.*}}presplitcoroutine

; The optimiser makes of it a call that continues.
; SPLIT-LABEL: define internal {{.*}}@barriers.thread.resume(
; SPLIT-NOT:   call {{.*}}@llvm.coro
; SPLIT-NOT:   call i32 @dragon_cpu_barrier

declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.all(i32)
