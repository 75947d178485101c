; The look-up of an access that goes through memory step by step is made once
; for each page; that of one whose address is data each time.
; RUN: %dragon-opt-passes -passes='dragon-page-accesses,verify' -S %s | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @__dragon_paged_sum(
; CHECK: loop:
; CHECK-DAG: [[PAGE:%.*]] = phi i64 [ -1, %entry ],
; CHECK-DAG: [[OFFSET:%.*]] = phi i64 [ 0, %entry ], [ %{{.*}}, %__dragon
; CHECK: [[ADDRESS:%.*]] = ptrtoint ptr %p to i64
; CHECK: [[ITS:%.*]] = lshr i64 [[ADDRESS]], %{{.*}}
; CHECK: [[OTHER:%.*]] = icmp ne i64 [[ITS]], [[PAGE]]
; CHECK-NEXT: br i1 [[OTHER]],
; CHECK: call i64 @__dragon_page_fetch(i64 noundef [[ADDRESS]],
; CHECK: [[NOW:%.*]] = phi i64 {{.*}}[[OFFSET]], %loop
; CHECK: [[FOUND:%.*]] = add i64 [[ADDRESS]], [[NOW]]
; CHECK-NEXT: inttoptr i64 [[FOUND]] to ptr addrspace(1)
; CHECK: [[DATA:%.*]] = ptrtoint ptr %q to i64
; CHECK-NOT: icmp ne i64
; CHECK: call i64 @__dragon_page_fetch(i64 noundef [[DATA]],
; CHECK: ret void
define ptx_kernel void @sum(ptr %index, ptr %in, ptr %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
  %p = getelementptr i32, ptr %index, i64 %i
  %k = load i32, ptr %p
  %q = getelementptr i32, ptr %in, i32 %k
  %v = load i32, ptr %q
  %more = add i32 %sum, %v
  %next = add i64 %i, 1
  %goes = icmp ult i64 %next, %n
  br i1 %goes, label %loop, label %end
end:
  store i32 %more, ptr %out
  ret void
}
