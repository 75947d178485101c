; Kernels that let other threads run are called thread by thread; the flag tells
; the runtime.
; RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: ptr @barrier, i32 1, i32 0 }
; CHECK-SAME: ptr @shuffles, i32 1, i32 0 }
; CHECK-SAME: ptr @through_call, i32 1, i32 0 }
; CHECK-SAME: ptr @through_pointer, i32 1, i32 0 }
; CHECK-SAME: ptr @lane_only, i32 0, i32 0 }
; CHECK-SAME: ptr @prints, i32 0, i32 0 }

; A function called through a pointer asks for the context itself.
; CHECK: define internal void @waits_too()
; CHECK-NEXT: entry:
; CHECK-NEXT:   [[C:%.*]] = call ptr @dragon_cpu_current()
; CHECK:        call void @waits_too.context(ptr [[C]], i32

; CHECK-LABEL: define internal void @barrier.thread(
; CHECK:         [[COUNT:%.*]] = call i32 @dragon_cpu_barrier(ptr %dragon.context, i32 1, i32 1)
; CHECK:         call void @dragon_cpu_named_barrier(ptr %dragon.context, i32 3, i32 64)
; CHECK:         call void @dragon_cpu_named_arrive(ptr %dragon.context, i32 4, i32 64)
define ptx_kernel void @barrier(ptr %out) {
  %n = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 true)
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 3, i32 64)
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 4, i32 64)
  store i32 %n, ptr %out
  ret void
}

; CHECK-LABEL: define internal void @shuffles.thread(
; CHECK:         call i32 @dragon_cpu_shuffle(ptr %dragon.context, i32 2, i32 -1, i32 %a, i32 1, i32 31, ptr null)
; CHECK:         [[F:%.*]] = bitcast float %f to i32
; CHECK:         [[R:%.*]] = call i32 @dragon_cpu_shuffle(ptr %dragon.context, i32 3, i32 -1, i32 [[F]], i32 1, i32 31, ptr null)
; CHECK:         bitcast i32 [[R]] to float
; CHECK:         call i32 @dragon_cpu_shuffle(ptr %dragon.context, i32 1, i32 -1, i32 %a, i32 1, i32 0, ptr [[IN:%[0-9]+]])
; CHECK:         load i32, ptr [[IN]]
; CHECK:         call i32 @dragon_cpu_vote(ptr %dragon.context, i32 3, i32 -1, i32 1)
; CHECK:         call i32 @dragon_cpu_match(ptr %dragon.context, i32 -1, i64 %{{.*}}, i32 0, ptr null)
; CHECK:         call i32 @dragon_cpu_redux(ptr %dragon.context, i32 0, i32 -1, i32 %a)
define ptx_kernel void @shuffles(i32 %a, float %f, ptr %out) {
  %r = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %a, i32 1, i32 31)
  %s = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %f, i32 1, i32 31)
  %t = call {i32, i1} @llvm.nvvm.shfl.sync.up.i32p(i32 -1, i32 %a, i32 1, i32 0)
  %v = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 true)
  %m = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %a)
  %x = call i32 @llvm.nvvm.redux.sync.add(i32 %a, i32 -1)
  store i32 %r, ptr %out
  ret void
}

define internal void @waits() noinline {
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}
define ptx_kernel void @through_call() {
  call void @waits()
  ret void
}

define internal void @waits_too() {
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  ret void
}
@table = addrspace(1) global ptr @waits_too
define ptx_kernel void @through_pointer() {
  %f = load ptr, ptr addrspace(1) @table
  call void %f()
  ret void
}

; The lane is known without asking other threads.
define ptx_kernel void @lane_only(ptr %out) {
  %l = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  store i32 %l, ptr %out
  ret void
}

define ptx_kernel void @prints() {
  %n = call i32 @vprintf(ptr null, ptr null)
  ret void
}

; CHECK-LABEL: define internal void @barrier(
; CHECK-NOT:     phi
; CHECK:         call void @barrier.thread(
; CHECK-NOT:     phi
; CHECK:         ret void

; What the runtime may look at is stored.
; CHECK-LABEL: define internal void @prints(
; CHECK:       x:
; CHECK:         store i32
; CHECK:         store i32
; CHECK:         store i32
; CHECK:         call void @prints.thread(

declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)
declare {i32, i1} @llvm.nvvm.shfl.sync.up.i32p(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i32 @vprintf(ptr, ptr)
