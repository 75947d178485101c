; Kernels are marked when their code is as it is written, and copied when it is
; optimised: the optimiser sees them once.
; RUN: %dragon-opt-passes -passes='dragon-copy-kernels,verify' -S %s | FileCheck %s
; RUN: %dragon-opt-passes -passes='default<O3>' -S %s | FileCheck %s --check-prefix=ALL

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @marked(
; CHECK-SAME:    ) #[[PLAIN:[0-9]+]] {
define ptx_kernel void @marked(ptr %out) "dragon-slices" "dragon-counts" "kept" {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  store i32 %b, ptr %out
  ret void
}

; Its clone for slices, as the pass for those makes it.
define ptx_kernel void @slices(ptr %out) "dragon-slices" {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  store i32 %b, ptr %out
  ret void
}

; What nothing marks is left alone.
define ptx_kernel void @plain(ptr %out) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  store i32 %b, ptr %out
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

; Counts in PTX, without a branch, and whatever the optimiser left to count.
; CHECK-LABEL: define ptx_kernel void @__dragon_count_marked(
; CHECK-SAME:    ) #[[PLAIN]] {
; CHECK-NOT:     br
; CHECK:         call void asm sideeffect "{{.*}}setp.lt.u64 counts, at, $3;{{.*}}@counts red.relaxed.gpu.add.u32 [at], 1;{{.*}}", "l,l,l,l,r"(i64 %{{[0-9]+}}, ptr %dragon.counters, i64 %dragon.base, i64 %{{[0-9]+}}, i32 %dragon.shift) #[[ASM:[0-9]+]]
; CHECK-NEXT:    store
; CHECK-NEXT:    ret void

; CHECK-LABEL: define ptx_kernel void @__dragon_slice_marked(
; CHECK-SAME:    ) #[[PLAIN]] {
; CHECK-NEXT:    call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK-NEXT:    add nuw nsw i32 {{.*}}, %dragon.offset.x
; CHECK-LABEL: define ptx_kernel void @__dragon_slice_slices(
; CHECK-NOT:   define
; CHECK:       attributes #[[PLAIN]] = { "kept" }
; CHECK:       attributes #[[ASM]] = { nounwind memory(inaccessiblemem: readwrite) }

; The whole pipeline marks what it copies.
; ALL-NOT: "dragon-slices"
; ALL:     define {{.*}}@__dragon_slice_plain(
; ALL-NOT: "dragon-slices"
