; Which kernels may have a copy for buffers that do not overlap: those of which
; all is known that they access, which write some of it, and have another
; pointer. They get it at the end of the pipeline.
; RUN: rm -rf %t.dir && mkdir -p %t.dir
; RUN: %dragon-opt-passes -passes=dragon-pipeline -dragon-access-counts=0 -dragon-paging=0 -dragon-slicing=0 -dragon-summary=%t.dir/s -S %s | FileCheck %s
; RUN: %dragon-opt-passes -passes='default<O2>' -dragon-summary=%t.dir/s -pass-remarks=dragon -S %s 2>&1 | FileCheck %s --check-prefix=COPIES
; RUN: %dragon-opt-passes -passes='default<O2>' -dragon-summary=%t.dir/s -dragon-restrict=0 -S %s | FileCheck %s --check-prefix=NONE
; RUN: %dragon-opt-passes -passes='default<O2>' -S %s | FileCheck %s --check-prefix=NONE

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; COPIES: remark: {{.*}}kernel 'two' has a copy in which 1 loads do not wait for stores, run where its pointers lead to different allocations
; COPIES-NOT: @__dragon_restrict_{{one|keeps|through}}
; COPIES: define {{.*}}@__dragon_restrict_two(
; COPIES-NOT: @__dragon_restrict_{{one|keeps|through}}
; COPIES-NOT: "dragon-restrict"
; NONE-NOT: @__dragon_restrict

; CHECK: @two({{.*}}) #[[MARKED:[0-9]+]]
define ptx_kernel void @two(ptr %out, ptr %in) #0 {
  store i32 1, ptr %out
  %v = load i32, ptr %in
  %p = getelementptr i32, ptr %out, i32 1
  store i32 %v, ptr %p
  ret void
}

; A pointer alone has nothing to overlap with.
; CHECK: @one({{.*}}) #[[PLAIN:[0-9]+]]
define ptx_kernel void @one(ptr %out) #0 {
  %p = getelementptr i32, ptr %out, i32 1
  store i32 1, ptr %out
  %v = load i32, ptr %p
  store i32 %v, ptr %out
  ret void
}

; Somebody else may get the pointer.
; CHECK: @keeps({{.*}}) #[[PLAIN]]
define ptx_kernel void @keeps(ptr %out, ptr %in) #0 {
  store ptr %in, ptr %out
  %v = load i32, ptr %in
  store i32 %v, ptr %out
  ret void
}

; What a pointer in memory leads to is not known.
; CHECK: @through({{.*}}) #[[PLAIN]]
define ptx_kernel void @through(ptr %table, ptr %in) #0 {
  %p = load ptr, ptr %table
  store i32 1, ptr %p
  %v = load i32, ptr %in
  store i32 %v, ptr %p
  ret void
}

attributes #0 = { "target-cpu"="sm_90" }
; CHECK: attributes #[[MARKED]] = { "dragon-restrict" "target-cpu"="sm_90" }
; CHECK: attributes #[[PLAIN]] = { "target-cpu"="sm_90" }
