; Few cases that compute something cheap are selects: a warp has threads of each.
; RUN: %dragon-opt-passes -passes='function(dragon-small-switches),verify' -S %s | FileCheck %s
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %s | %dragon-opt-passes -passes='function(dragon-small-switches),verify' -S | FileCheck %s --check-prefix=HOST

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define i32 @counts(
; CHECK-NOT:     switch
; CHECK-DAG:     %[[A:.*]] = icmp eq i8 %c, 65
; CHECK-DAG:     %[[B:.*]] = icmp eq i8 %c, 66
; CHECK-DAG:     %one = add i32 %x, 1
; CHECK-DAG:     %two = add i32 %y, 1
; CHECK:         select i1 %[[A]], i32 %one, i32 %x
; CHECK:         select i1 %[[B]], i32 %two, i32 %y
; CHECK:         br label %meet
; CHECK:       meet:
; CHECK-NOT:     preds = %entry,
; CHECK:         ret i32
; HOST-LABEL: define i32 @counts(
; HOST:          switch
define i32 @counts(i8 %c, i32 %x, i32 %y) {
entry:
  switch i8 %c, label %meet [
    i8 65, label %isA
    i8 66, label %isB
  ]
isA:
  %one = add i32 %x, 1
  br label %meet
isB:
  %two = add i32 %y, 1
  br label %meet
meet:
  %a = phi i32 [ %x, %entry ], [ %one, %isA ], [ %x, %isB ]
  %b = phi i32 [ %y, %entry ], [ %y, %isA ], [ %two, %isB ]
  %result = mul i32 %a, %b
  ret i32 %result
}

; Two cases go to the same block, and two others meet without one.
; CHECK-LABEL: define i32 @shared(
; CHECK-NOT:     switch
; CHECK:         select
; CHECK:         ret i32
define i32 @shared(i32 %c, i32 %x) {
entry:
  switch i32 %c, label %other [
    i32 1, label %low
    i32 2, label %low
    i32 3, label %meet
    i32 4, label %meet
  ]
low:
  %negative = sub i32 0, %x
  br label %meet
other:
  %shifted = shl i32 %x, 1
  br label %meet
meet:
  %result = phi i32 [ %negative, %low ], [ %shifted, %other ], [ 7, %entry ], [ 7, %entry ]
  ret i32 %result
}

; A load might fault, a store must not happen, and many cases are a table.
; CHECK-LABEL: define i32 @loads(
; CHECK:         switch
; CHECK-LABEL: define void @stores(
; CHECK:         switch
; CHECK-LABEL: define i32 @many(
; CHECK:         switch
define i32 @loads(i32 %c, ptr %p) {
entry:
  switch i32 %c, label %meet [ i32 1, label %load ]
load:
  %v = load i32, ptr %p
  br label %meet
meet:
  %result = phi i32 [ 0, %entry ], [ %v, %load ]
  ret i32 %result
}
define void @stores(i32 %c, ptr %p) {
entry:
  switch i32 %c, label %meet [ i32 1, label %store ]
store:
  store i32 1, ptr %p
  br label %meet
meet:
  ret void
}
define i32 @many(i32 %c) {
entry:
  switch i32 %c, label %meet [
    i32 1, label %one
    i32 2, label %two
    i32 3, label %one
    i32 4, label %two
    i32 5, label %one
  ]
one:
  br label %meet
two:
  br label %meet
meet:
  %result = phi i32 [ 0, %entry ], [ 10, %one ], [ 20, %two ]
  ret i32 %result
}
