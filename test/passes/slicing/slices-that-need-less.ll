; Kernels that need the same memory for every block are never cut into slices:
; they have no clone for that, and the summary says why.
; RUN: rm -rf %t.dir && mkdir -p %t.dir
; RUN: %dragon-opt-passes -passes=dragon-pipeline -dragon-access-counts=0 -dragon-paging=0 -dragon-restrict=0 -dragon-summary=%t.dir/s -S %s | FileCheck %s
; RUN: %dragon-opt-passes -passes='default<O2>' -dragon-summary=%t.dir/s -S %s | FileCheck %s --check-prefix=CLONES
; RUN: grep -c -a 'what it accesses does not depend on the block, as far as is known' %t.dir/s.sm_90
; RUN: grep -c -a 'each of its blocks may access any buffer' %t.dir/s.sm_90

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CLONES-NOT: @__dragon_slice_{{any|all|through}}
; CLONES-DAG: define {{.*}}@__dragon_slice_part(
; CLONES-DAG: define {{.*}}@__dragon_slice_first(
; CLONES-NOT: @__dragon_slice_{{any|all|through}}

; CHECK: @part({{.*}}) #[[SLICES:[0-9]+]]
define ptx_kernel void @part(ptr %out) #0 {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %p = getelementptr i32, ptr %out, i32 %b
  store i32 1, ptr %p
  ret void
}

; Most blocks need nothing.
; CHECK: @first({{.*}}) #[[SLICES]]
define ptx_kernel void @first(ptr %out) #0 {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %is = icmp eq i32 %b, 0
  br i1 %is, label %then, label %end
then:
  store i32 1, ptr %out
  br label %end
end:
  ret void
}

; CHECK: @any({{.*}}) #[[PLAIN:[0-9]+]]
define ptx_kernel void @any(ptr %out, ptr %index) #0 {
  %i = load i32, ptr %index
  %p = getelementptr i32, ptr %out, i32 %i
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  store i32 %b, ptr %p
  ret void
}

; CHECK: @all({{.*}}) #[[PLAIN]]
define ptx_kernel void @all(ptr %out) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %p = getelementptr i32, ptr %out, i32 %t
  store i32 %b, ptr %p
  ret void
}

; CHECK: @through({{.*}}) #[[PLAIN]]
define ptx_kernel void @through(ptr %list) #0 {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %p = getelementptr ptr, ptr %list, i32 %b
  %q = load ptr, ptr %p
  store i32 1, ptr %q
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; CHECK: attributes #[[SLICES]] = { {{.*}}"dragon-slices"
; CHECK: attributes #[[PLAIN]] = {
; CHECK-NOT: "dragon-slices"
attributes #0 = { "target-cpu"="sm_90" }
