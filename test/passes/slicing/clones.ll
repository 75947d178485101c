; Kernels that read blockIdx or gridDim get a clone with the block offset and the
; whole grid as trailing parameters; so do the functions they read them in.
; RUN: %dragon-opt-passes -passes='dragon-slice-kernels,verify' -S %s | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.Params = type { ptr, [3 x i32] }

@llvm.compiler.used = appending global [1 x ptr] [ptr @reads_block], section "llvm.metadata"

; CHECK: @llvm.compiler.used = {{.*}}@reads_block{{.*}}@__dragon_slice_reads_block

; The original is untouched.
; CHECK-LABEL: define ptx_kernel void @reads_block(ptr %a)
; CHECK-NEXT:    %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK-NEXT:    %g = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
; CHECK-NEXT:    %s = add i32 %b, %g
define ptx_kernel void @reads_block(ptr %a) #0 {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %g = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
  %s = add i32 %b, %g
  store i32 %s, ptr %a
  ret void
}

define ptx_kernel void @by_value(ptr byval(%struct.Params) align 8 "nvvm.grid_constant" %p) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %a = load ptr, ptr %p
  store i32 %b, ptr %a
  ret void
}

define linkonce_odr i32 @index(i32 %d) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %r = call i32 @recursive(i32 %d)
  %s = add i32 %b, %r
  ret i32 %s
}

define internal i32 @recursive(i32 %d) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %stop = icmp eq i32 %d, 0
  br i1 %stop, label %out, label %again
again:
  %less = sub i32 %d, 1
  %r = call i32 @recursive(i32 %less)
  br label %out
out:
  %v = phi i32 [ %b, %0 ], [ %r, %again ]
  ret i32 %v
}

define internal i32 @position_free(i32 %d) {
  ret i32 %d
}

define ptx_kernel void @through_calls(ptr %a) {
  %i = call i32 @index(i32 3)
  %j = call i32 @position_free(i32 %i)
  store i32 %j, ptr %a
  ret void
}

; No position read, no clone: the kernel itself can run on a smaller grid.
define ptx_kernel void @threads_only(ptr %a) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 %t, ptr %a
  ret void
}

; Not sliceable (all blocks must be there at once), so no clone either.
define ptx_kernel void @grid_sync(ptr %a) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.envreg1()
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.envreg1()
attributes #0 = { "nvvm.maxntid"="256" "nvvm.minctasm"="2" }

; CHECK-LABEL: define ptx_kernel void @__dragon_slice_reads_block(ptr %a,
; CHECK-SAME:    i32 noundef %dragon.offset.x, i32 noundef %dragon.offset.y, i32 noundef %dragon.offset.z,
; CHECK-SAME:    i32 noundef %dragon.grid.x, i32 noundef %dragon.grid.y, i32 noundef %dragon.grid.z) #[[BOUNDS:[0-9]+]]
; CHECK-NEXT:    %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK-NEXT:    [[SUM:%.*]] = add nuw nsw i32 %b, %dragon.offset.x
; CHECK-NEXT:    %s = add i32 [[SUM]], %dragon.grid.y

; CHECK-LABEL: define ptx_kernel void @__dragon_slice_by_value(
; CHECK-SAME:    ptr byval(%struct.Params) align 8 "nvvm.grid_constant" %p, i32

; CHECK-LABEL: define ptx_kernel void @__dragon_slice_through_calls(
; CHECK:         call i32 @index.dragon.slice(i32 3, i32 %dragon.offset.x,
; CHECK-SAME:      i32 %dragon.grid.z)
; CHECK:         call i32 @position_free(i32 %i)

; CHECK-LABEL: define internal i32 @index.dragon.slice(i32 %d, i32 noundef %dragon.offset.x
; CHECK:         add nuw nsw i32 %b, %dragon.offset.y
; CHECK:         call i32 @recursive.dragon.slice(i32 %d, i32 %dragon.offset.x,

; CHECK-LABEL: define internal i32 @recursive.dragon.slice(i32 %d,
; CHECK:         call i32 @recursive.dragon.slice(i32 %less, i32 %dragon.offset.x,

; CHECK-NOT: @__dragon_slice_threads_only
; CHECK-NOT: @__dragon_slice_grid_sync
; CHECK: attributes #[[BOUNDS]] = { "nvvm.maxntid"="256" "nvvm.minctasm"="2" }
