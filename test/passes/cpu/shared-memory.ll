; Shared variables become offsets: kernels use the same bytes for different
; variables, a kernel asks for what it reaches, dynamic memory follows.
; RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

@first = internal addrspace(3) global [16 x float] poison, align 4
@second = internal addrspace(3) global [2 x double] poison, align 16
@common = internal addrspace(3) global i32 poison, align 4
@dynamic = external addrspace(3) global [0 x i32], align 4

; 'first' and 'second' share bytes; 'common' is beyond both.
; CHECK: ptr @uses_first, i32 1, i32 68 }
; CHECK-SAME: ptr @uses_second, i32 1, i32 68 }
; CHECK-SAME: ptr @dynamic_only, i32 1, i32 0 }
; CHECK-SAME: ptr @none, i32 0, i32 0 }

; CHECK-LABEL: define internal void @uses_first.thread(
; CHECK:         [[BASE:%.*]] = load ptr, ptr {{.*}} !invariant.load
; CHECK:         [[FIRST:%.*]] = getelementptr inbounds i8, ptr [[BASE]], i64 0
; CHECK:         getelementptr {{.*}} [[FIRST]]
; CHECK:         call void @dragon_cpu_warp_sync(ptr %dragon.context, i32 -1)
define ptx_kernel void @uses_first(i64 %i) {
  %p = getelementptr float, ptr addrspacecast (ptr addrspace(3) @first to ptr), i64 %i
  store float 1.0, ptr %p
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  call void @touch_common()
  ret void
}

define ptx_kernel void @uses_second(i64 %i) {
  %p = getelementptr double, ptr addrspace(3) @second, i64 %i
  store double 1.0, ptr addrspace(3) %p
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  call void @touch_common()
  ret void
}

; CHECK-LABEL: define internal void @touch_common(
; CHECK:         getelementptr inbounds i8, ptr %{{.*}}, i64 64
define internal void @touch_common() {
  store i32 5, ptr addrspacecast (ptr addrspace(3) @common to ptr)
  ret void
}

; CHECK-LABEL: define internal void @dynamic_only.thread(
; CHECK:         [[STATIC:%.*]] = load i32
; CHECK:         [[OFFSET:%.*]] = zext i32 [[STATIC]] to i64
; CHECK:         getelementptr inbounds i8, ptr %{{.*}}, i64 [[OFFSET]]
define ptx_kernel void @dynamic_only(ptr %out) {
  %v = load i32, ptr addrspacecast (ptr addrspace(3) @dynamic to ptr)
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  store i32 %v, ptr %out
  ret void
}

; As a number, a shared address is its offset.
; CHECK-LABEL: define internal i32 @number(
; CHECK:         sub i64
define internal i32 @number(ptr %p) noinline {
  %s = addrspacecast ptr %p to ptr addrspace(3)
  %n = ptrtoint ptr addrspace(3) %s to i64
  %t = trunc i64 %n to i32
  ret i32 %t
}

define ptx_kernel void @none(ptr %out) {
  %n = call i32 @number(ptr %out)
  store i32 %n, ptr %out
  ret void
}

declare void @llvm.nvvm.bar.warp.sync(i32)
