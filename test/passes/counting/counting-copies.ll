; A kernel whose accesses are to be counted gets a copy that does, with six
; parameters behind its own; so do the functions in which it accesses memory.
; RUN: %dragon-opt-passes -passes='dragon-count-accesses,verify' -S %s | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [32 x i32] undef
@llvm.compiler.used = appending global [1 x ptr] [ptr @gather], section "llvm.metadata"

; CHECK: @llvm.compiler.used = {{.*}}@gather{{.*}}@__dragon_count_gather

; The original is untouched.
; CHECK-LABEL: define ptx_kernel void @gather(ptr %out, ptr %index, ptr %in)
; CHECK-NEXT:    %i = load i32, ptr %index
; CHECK-NEXT:    %v = call i32 @fetch(ptr %in, i32 %i)
; CHECK-NEXT:    %t = addrspacecast
; CHECK-NEXT:    store i32 %v, ptr %t
; CHECK-NEXT:    store i32 %v, ptr %out
; CHECK-NEXT:    ret void
define ptx_kernel void @gather(ptr %out, ptr %index, ptr %in) {
  %i = load i32, ptr %index
  %v = call i32 @fetch(ptr %in, i32 %i)
  %t = addrspacecast ptr addrspace(3) @tile to ptr
  store i32 %v, ptr %t
  store i32 %v, ptr %out
  ret void
}

define internal i32 @fetch(ptr %p, i32 %i) memory(read) {
  %local = alloca i32
  store i32 %i, ptr %local
  %k = load i32, ptr %local
  %at = getelementptr i32, ptr %p, i32 %k
  %v = load i32, ptr %at
  ret i32 %v
}

; What accesses nothing has nothing to count.
define ptx_kernel void @nothing(i32 %n) {
  ret void
}

; An atomic update and a copy of memory are accesses, too.
define ptx_kernel void @others(ptr addrspace(1) %a, ptr %b) {
  %old = atomicrmw add ptr addrspace(1) %a, i32 1 monotonic
  call void @llvm.memcpy.p0.p1.i64(ptr %b, ptr addrspace(1) %a, i64 64, i1 false)
  ret void
}
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)

; A sample of the blocks and of their threads; the others have nothing to count
; in.
; CHECK-LABEL: define ptx_kernel void @__dragon_count_gather(
; CHECK-SAME:    ptr %out, ptr %index, ptr %in, ptr noundef %dragon.counters,
; CHECK-SAME:    i64 noundef %dragon.base, i64 noundef %dragon.count, i32 noundef %dragon.shift,
; CHECK-SAME:    i32 noundef %dragon.blocks, i32 noundef %dragon.lanes)
; CHECK-DAG:     call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK-DAG:     call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK:         [[COUNT:%[0-9]+]] = select i1 {{%[0-9]+}}, i64 %dragon.count, i64 0
; CHECK-NEXT:    [[INDEX:%[0-9]+]] = ptrtoint ptr %index to i64
; CHECK-NEXT:    call void @dragon.count.access(i64 [[INDEX]], ptr %dragon.counters, i64 %dragon.base, i64 [[COUNT]], i32 %dragon.shift)
; CHECK-NEXT:    %i = load i32, ptr %index
; CHECK-NEXT:    %v = call i32 @fetch.dragon.count(ptr %in, i32 %i, ptr %dragon.counters, i64 %dragon.base, i64 [[COUNT]], i32 %dragon.shift)
; Shared memory is not counted.
; CHECK-NEXT:    %t = addrspacecast
; CHECK-NEXT:    store i32 %v, ptr %t
; CHECK-NEXT:    ptrtoint ptr %out
; CHECK-NEXT:    call void @dragon.count.access(
; CHECK-NEXT:    store i32 %v, ptr %out

; CHECK-LABEL: define internal void @dragon.count.access(
; CHECK:         icmp ult i64
; CHECK:         atomicrmw add ptr {{.*}}, i32 1 monotonic

; Nor is local memory. It writes counters now.
; CHECK-LABEL: define internal i32 @fetch.dragon.count(
; CHECK-NOT:     memory(read)
; CHECK:         %local = alloca
; CHECK-NEXT:    store
; CHECK-NEXT:    load
; CHECK-NEXT:    %at = getelementptr
; CHECK-NEXT:    ptrtoint ptr %at
; CHECK-NEXT:    call void @dragon.count.access(
; CHECK-NEXT:    %v = load

; CHECK-NOT: @__dragon_count_nothing

; CHECK-LABEL: define ptx_kernel void @__dragon_count_others(
; CHECK-COUNT-3: call void @dragon.count.access(
; CHECK-NOT:     call void @dragon.count.access(
; CHECK:         ret void
