; A kernel that may fetch pages gets a copy that looks up each address of global
; memory, and has eight parameters more; so do the functions in which it
; accesses memory.
; RUN: %dragon-opt-passes -passes='dragon-page-accesses,verify' -S %s | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [32 x i32] undef
@llvm.compiler.used = appending global [1 x ptr] [ptr @gather], section "llvm.metadata"

; The kernels behind each launch are kept.
; CHECK: @llvm.compiler.used = {{.*}}@gather{{.*}}@__dragon_paged_gather{{.*}}@__dragon_page_

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

define internal i32 @fetch(ptr %in, i32 %i) noinline {
  %p = getelementptr i32, ptr %in, i32 %i
  %v = load i32, ptr %p
  ret i32 %v
}

; Once for two accesses to the same address; a store marks its page.
define ptx_kernel void @twice(ptr %data, ptr %out) {
  %a = load i32, ptr %data
  %b = atomicrmw add ptr %data, i32 %a monotonic
  %c = load i32, ptr %data
  %sum = add i32 %b, %c
  store i32 %sum, ptr %out
  ret void
}

; Somebody else accesses memory, or an access may cross the border of a page.
declare void @elsewhere(ptr)
define ptx_kernel void @calls(ptr %data) {
  call void @elsewhere(ptr %data)
  store i32 1, ptr %data
  ret void
}
define ptx_kernel void @assembly(ptr %data) {
  call void asm sideeffect "st.global.u32 [$0], 1;", "l"(ptr %data)
  store i32 1, ptr %data
  ret void
}
define ptx_kernel void @pureAssembly(ptr %data) {
  %v = call i32 asm "ld.global.u32 $0, [$1];", "=r,l"(ptr %data)
  store i32 %v, ptr %data
  ret void
}
define ptx_kernel void @texture(ptr %data, i64 %texture) {
  %v = call { i32, i32, i32, i32 } @llvm.nvvm.tex.unified.1d.v4s32.s32(i64 %texture, i32 3)
  %x = extractvalue { i32, i32, i32, i32 } %v, 0
  store i32 %x, ptr %data
  ret void
}
declare { i32, i32, i32, i32 } @llvm.nvvm.tex.unified.1d.v4s32.s32(i64, i32)
define ptx_kernel void @crosses(ptr %data) {
  store i32 1, ptr %data, align 2
  ret void
}
define ptx_kernel void @ofItsOwn() {
  %t = addrspacecast ptr addrspace(3) @tile to ptr
  store i32 1, ptr %t
  ret void
}

; A copy needs some shared memory itself.
@large = internal addrspace(3) global [32768 x i8] undef
define ptx_kernel void @largeTile(ptr %data) {
  store i8 1, ptr addrspacecast (ptr addrspace(3) @large to ptr)
  store i32 1, ptr %data
  ret void
}

; Copies become loops of accesses.
define ptx_kernel void @copies(ptr %to, ptr %from) {
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %to, ptr align 4 %from, i64 48, i1 false)
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; CHECK-NOT: @__dragon_paged_calls
; CHECK-NOT: @__dragon_paged_assembly
; CHECK-NOT: @__dragon_paged_pureAssembly
; CHECK-NOT: @__dragon_paged_texture
; CHECK-NOT: @__dragon_paged_crosses
; CHECK-NOT: @__dragon_paged_ofItsOwn
; CHECK-NOT: @__dragon_paged_largeTile

; CHECK-LABEL: define ptx_kernel void @__dragon_paged_gather(ptr %out, ptr %index, ptr %in, ptr addrspace(1) noundef %dragon.entries, i64 noundef %dragon.base, i64 noundef %dragon.count, i32 noundef %dragon.shift, i64 noundef %dragon.frames, ptr addrspace(1) noundef %dragon.control, ptr addrspace(1) noundef %dragon.cells, i32 noundef %dragon.cell.shift, i64 noundef %dragon.resident)
; CHECK: and i64 %dragon.resident, 2
; CHECK: call i64 @__dragon_page_fetch(
; CHECK: [[INDEX:%.*]] = inttoptr i64 %{{.*}} to ptr addrspace(1)
; CHECK: %i = load i32, ptr addrspace(1) [[INDEX]]
; CHECK: %{{.*}} = call i32 @fetch.dragon.paged(ptr %in, i32 %i, ptr addrspace(1) %dragon.entries,
; CHECK-NEXT: store i32 %v, ptr addrspacecast (ptr addrspace(3) @tile to ptr)
; CHECK: call i64 @__dragon_page_fetch(
; CHECK: store i32 %{{.*}}, ptr addrspace(1) %
; CHECK: ret void

; In a function the address may be of any memory.
; CHECK-LABEL: define internal i32 @fetch.dragon.paged(
; CHECK: call i64 @__dragon_page_fetch(
; CHECK: load i32, ptr %

; The load's look-up, the update's and the last store's; the second load has the first one's.
; CHECK-LABEL: define ptx_kernel void @__dragon_paged_twice(
; CHECK-COUNT-3: call i64 @__dragon_page_fetch(
; CHECK-NOT: call i64 @__dragon_page_fetch(

; CHECK-LABEL: define ptx_kernel void @__dragon_paged_copies(
; CHECK-NOT: @llvm.memcpy
; CHECK: ret void

; CHECK: define weak_odr ptx_kernel void @__dragon_pages_recycle(
; CHECK: define weak_odr ptx_kernel void @__dragon_page_write_back(
; CHECK: define weak_odr ptx_kernel void @__dragon_pages_ahead(
