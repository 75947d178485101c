; The copy that counts accesses is left out for kernels that are large once they
; are optimised, with what they call; the remark is told when that is known.
; RUN: %dragon-opt-passes -passes='dragon-copy-kernels,verify' -dragon-access-count-limit=6 -pass-remarks-analysis=dragon -S %s 2>&1 | FileCheck %s
; RUN: %dragon-opt-passes -passes='dragon-copy-kernels,verify' -dragon-access-count-limit=7 -S %s | FileCheck %s --check-prefix=BOTH
; RUN: %dragon-opt-passes -passes='dragon-copy-kernels,verify' -dragon-heat-limit=7 -S %s | FileCheck %s --check-prefix=BOTH

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: remark: {{.*}}kernel 'small' has a copy that counts accesses, {{.*}}: where in 'data' it does is data;
; CHECK: remark: {{.*}}kernel 'large' has no copy that counts accesses: optimised it has 7 instructions, more than 6; -mllvm -dragon-access-count-limit=<n> raises the limit
; CHECK-NOT: "dragon-counts"
; CHECK-NOT: @__dragon_count_large
; CHECK: define ptx_kernel void @__dragon_count_small(
; CHECK-NOT: @__dragon_count_large
; BOTH-DAG: define ptx_kernel void @__dragon_count_small(
; BOTH-DAG: define ptx_kernel void @__dragon_count_large(
define ptx_kernel void @small(ptr %data) "dragon-counts"="where in 'data' it does is data" {
  %i = load i64, ptr %data
  %p = getelementptr i32, ptr %data, i64 %i
  store i32 1, ptr %p
  ret void
}

define ptx_kernel void @large(ptr %data) "dragon-counts"="where in 'data' it does is data" {
  %i = load i64, ptr %data
  call void @step(ptr %data, i64 %i)
  ret void
}

define internal void @step(ptr %data, i64 %i) noinline {
  %p = getelementptr i32, ptr %data, i64 %i
  store i32 1, ptr %p
  store i32 2, ptr %data
  ret void
}
