; On the host processor, small kernels have a copy that counts accesses; it
; would make a large one take twice the time to compile. The summary is that of
; all processors.
; RUN: rm -rf %t.dir && mkdir -p %t.dir
; RUN: %dragon-opt-passes -passes=dragon-pipeline -dragon-summary=%t.dir/s -dragon-cpu-out=%t.dir/c.bc -dragon-cpu-access-count-limit=12 -S %s -o %t.dir/device.ll
; RUN: llvm-dis %t.dir/c.bc -o - | FileCheck %s
; RUN: FileCheck %s --check-prefix=DEVICE < %t.dir/device.ll

; CHECK-NOT: __dragon_count_large
; CHECK:     define internal void @__dragon_count_small(
; CHECK-NOT: __dragon_count_large

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; DEVICE: define ptx_kernel void @small({{.*}}) #[[COUNTS:[0-9]+]]
define ptx_kernel void @small(ptr %data) #0 {
  %i = load i64, ptr %data
  %p = getelementptr i32, ptr %data, i64 %i
  store i32 1, ptr %p
  ret void
}

; DEVICE: define ptx_kernel void @large({{.*}}) #[[COUNTS]]
define ptx_kernel void @large(ptr %data) #0 {
  call void @step(ptr %data)
  call void @step(ptr %data)
  call void @step(ptr %data)
  call void @step(ptr %data)
  ret void
}

define internal void @step(ptr %data) {
  %i = load i64, ptr %data
  %p = getelementptr i32, ptr %data, i64 %i
  store i32 1, ptr %p
  ret void
}

; DEVICE: attributes #[[COUNTS]] = { {{.*}}"dragon-counts"
attributes #0 = { "target-cpu"="sm_90" }
