; A division of which a select takes the result, or not, goes behind a branch.
; RUN: %dragon-opt-passes -passes='function(dragon-costly-selects),verify' -S %s | FileCheck %s
; RUN: %dragon-opt-passes -dragon-approximate-division -passes='function(dragon-costly-selects),verify' -S %s | FileCheck %s --check-prefix=FAST
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %s | %dragon-opt-passes -passes='function(dragon-costly-selects),verify' -S | FileCheck %s --check-prefix=HOST

target triple = "nvptx64-nvidia-cuda"

; With what is computed for the division alone.
; CHECK-LABEL: define float @divides(
; CHECK:         %more = icmp
; CHECK-NEXT:    br i1 %more, label %[[THEN:.*]], label %[[END:.*]]
; CHECK:       [[THEN]]:
; CHECK-NEXT:    %f = sitofp
; CHECK-NEXT:    %q = fdiv
; CHECK-NEXT:    br label %[[END]]
; CHECK:       [[END]]:
; CHECK-NEXT:    phi float [ %q, %[[THEN]] ], [ %x, %0 ]
; FAST-LABEL: define float @divides(
; FAST:          select
; HOST-LABEL: define float @divides(
; HOST:          select
define float @divides(float %x, i32 %n) {
  %more = icmp sgt i32 %n, 1
  %f = sitofp i32 %n to float
  %q = fdiv float %x, %f
  %r = select i1 %more, float %q, float %x
  ret float %r
}

; CHECK-LABEL: define i32 @remains(
; CHECK:         xor i1 %c, true
; CHECK:         br i1
; CHECK:         urem
; CHECK-NOT:     select
; CHECK:         ret i32
; FAST-LABEL: define i32 @remains(
; FAST-NOT:      select
; FAST:          ret i32
define i32 @remains(i32 %x, i32 %n, i1 %c) {
  %q = urem i32 %x, %n
  %r = select i1 %c, i32 %x, i32 %q
  ret i32 %r
}

; The quotient is needed besides; a constant's is a multiplication.
; CHECK-LABEL: define i32 @stay(
; CHECK-COUNT-2: select
; CHECK:         ret i32
define i32 @stay(i32 %x, i32 %n, i1 %c) {
  %q = udiv i32 %x, %n
  %r = select i1 %c, i32 %x, i32 %q
  %k = udiv i32 %x, 7
  %s = select i1 %c, i32 %x, i32 %k
  %t = add i32 %r, %s
  %u = add i32 %t, %q
  ret i32 %u
}

; What is computed from a division goes with it: the second condition of `c && x / y + y > 3`.
; CHECK-LABEL: define i1 @both(
; CHECK:         br i1 %c, label %[[THEN:.*]], label %[[END:.*]]
; CHECK:       [[THEN]]:
; CHECK-NEXT:    %q = fdiv
; CHECK-NEXT:    %s = fadd
; CHECK-NEXT:    %more = fcmp
; CHECK-NEXT:    br label %[[END]]
; CHECK:       [[END]]:
; CHECK-NEXT:    phi i1 [ %more, %[[THEN]] ], [ false, %0 ]
; FAST-LABEL: define i1 @both(
; FAST:          select
define i1 @both(float %x, float %y, i1 %c) {
  %q = fdiv float %x, %y
  %s = fadd float %q, %y
  %more = fcmp ogt float %s, 3.0
  %r = select i1 %c, i1 %more, i1 false
  ret i1 %r
}
