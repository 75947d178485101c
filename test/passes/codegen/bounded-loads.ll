; A load that is within its array in shared memory for certain is made without the branch in front of it.
; RUN: %dragon-opt-passes -passes='function(dragon-bounded-loads),verify' -S %s | FileCheck %s
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %s | %dragon-opt-passes -passes='function(dragon-bounded-loads),verify' -S | FileCheck %s --check-prefix=HOST

target triple = "nvptx64-nvidia-cuda"

@values = internal addrspace(3) global [256 x float] undef, align 4
@places = internal addrspace(3) global [256 x i64] undef, align 8
@dynamic = external addrspace(3) global [0 x i64], align 8

; CHECK-LABEL: define i64 @best(
; CHECK:       loop:
; CHECK:         %more = fcmp
; CHECK-NEXT:    %place = getelementptr
; CHECK-NEXT:    %found = load i64
; CHECK-NEXT:    %best.next{{.*}} = select i1 %more, float %x, float %best
; CHECK-NEXT:    %at.next{{.*}} = select i1 %more, i64 %found, i64 %at
; CHECK-NOT:     br i1 %more
; CHECK:         br i1 %last, label %end, label %loop
; HOST-LABEL: define i64 @best(
; HOST:         br i1 %more
define i64 @best() {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %i.next, %after ]
  %best = phi float [ 0.0, %0 ], [ %best.next, %after ]
  %at = phi i64 [ 0, %0 ], [ %at.next, %after ]
  %index = zext nneg i32 %i to i64
  %value = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @values to ptr), i64 %index
  %x = load float, ptr %value, align 4
  %more = fcmp ogt float %x, %best
  br i1 %more, label %then, label %after
then:
  %place = getelementptr inbounds i64, ptr addrspacecast (ptr addrspace(3) @places to ptr), i64 %index
  %found = load i64, ptr %place, align 8
  br label %after
after:
  %best.next = phi float [ %x, %then ], [ %best, %loop ]
  %at.next = phi i64 [ %found, %then ], [ %at, %loop ]
  %i.next = add nuw nsw i32 %i, 1
  %last = icmp eq i32 %i.next, 256
  br i1 %last, label %end, label %loop
end:
  ret i64 %at.next
}

; One more than there are: the last might be behind the array.
; CHECK-LABEL: define i64 @oneMore(
; CHECK:         br i1 %more
define i64 @oneMore() {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %i.next, %after ]
  %at = phi i64 [ 0, %0 ], [ %at.next, %after ]
  %more = icmp ugt i64 %at, %i
  br i1 %more, label %then, label %after
then:
  %place = getelementptr i64, ptr addrspace(3) @places, i64 %i
  %found = load i64, ptr addrspace(3) %place, align 8
  br label %after
after:
  %at.next = phi i64 [ %found, %then ], [ %at, %loop ]
  %i.next = add nuw nsw i64 %i, 1
  %last = icmp eq i64 %i.next, 257
  br i1 %last, label %end, label %loop
end:
  ret i64 %at.next
}

; The launch says how large dynamic shared memory is; volatile loads are made where they stand.
; CHECK-LABEL: define i64 @unknownSize(
; CHECK:         br i1 %c
; CHECK:         br i1 %c
define i64 @unknownSize(i1 %c) {
  br i1 %c, label %then, label %next
then:
  %a = load i64, ptr addrspace(3) @dynamic, align 8
  br label %next
next:
  %x = phi i64 [ %a, %then ], [ 0, %0 ]
  br i1 %c, label %second, label %end
second:
  %b = load volatile i64, ptr addrspace(3) @places, align 8
  br label %end
end:
  %y = phi i64 [ %b, %second ], [ %x, %next ]
  ret i64 %y
}

; A store in front of the load stays where it is, and so does the load.
; CHECK-LABEL: define i64 @stores(
; CHECK:         br i1 %c, label %then
; CHECK:       then:
; CHECK-NEXT:    store i64 1
define i64 @stores(i1 %c) {
  br i1 %c, label %then, label %end
then:
  store i64 1, ptr addrspace(3) @places, align 8
  %b = load i64, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @places, i64 8), align 8
  br label %end
end:
  %y = phi i64 [ %b, %then ], [ 0, %0 ]
  ret i64 %y
}

; The bits that are kept say where it is.
; CHECK-LABEL: define i64 @negated(
; CHECK:         %b = load i64
; CHECK-NEXT:    %[[Y:.*]] = select i1 %c, i64 0, i64 %b
; CHECK-NEXT:    ret i64 %[[Y]]
define i64 @negated(i1 %c, i64 %n) {
  br i1 %c, label %end, label %then
then:
  %index = and i64 %n, 255
  %place = getelementptr inbounds i64, ptr addrspace(3) @places, i64 %index
  %b = load i64, ptr addrspace(3) %place, align 8
  br label %end
end:
  %y = phi i64 [ %b, %then ], [ 0, %0 ]
  ret i64 %y
}

; Half of an element further the load is not aligned as it says.
; CHECK-LABEL: define i64 @misaligned(
; CHECK:         br i1 %c
define i64 @misaligned(i1 %c, i64 %n) {
  br i1 %c, label %end, label %then
then:
  %index = and i64 %n, 127
  %place = getelementptr inbounds i32, ptr addrspace(3) @places, i64 %index
  %b = load i64, ptr addrspace(3) %place, align 8
  br label %end
end:
  %y = phi i64 [ %b, %then ], [ 0, %0 ]
  ret i64 %y
}

; Two in one loop: what is known of the loop is asked for before either is changed.
; CHECK-LABEL: define i64 @two(
; CHECK:         load i64
; CHECK:         load i64
; CHECK-NOT:     br i1 %c
; CHECK:         br i1 %last, label %end, label %loop
define i64 @two(i1 %c) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %i.next, %after ]
  %j = phi i64 [ 255, %0 ], [ %j.next, %after ]
  %place = getelementptr i64, ptr addrspace(3) @places, i64 %i
  br i1 %c, label %then, label %next
then:
  %a = load i64, ptr addrspace(3) %place, align 8
  br label %next
next:
  %x = phi i64 [ %a, %then ], [ 0, %loop ]
  %other = getelementptr i64, ptr addrspace(3) @places, i64 %j
  br i1 %c, label %then2, label %after
then2:
  %b = load i64, ptr addrspace(3) %other, align 8
  br label %after
after:
  %y = phi i64 [ %b, %then2 ], [ 0, %next ]
  %sum.next = add i64 %x, %y
  %j.next = add nsw i64 %j, -1
  %i.next = add nuw nsw i64 %i, 1
  %last = icmp eq i64 %i.next, 256
  br i1 %last, label %end, label %loop
end:
  ret i64 %sum.next
}
