; What a loop reads of constant memory has a pointer of its own.
; RUN: %dragon-opt-passes -passes='function(dragon-constant-addresses),verify' -S %s | FileCheck %s
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %s | %dragon-opt-passes -passes='function(dragon-constant-addresses),verify' -S | FileCheck %s --check-prefix=HOST

target triple = "nvptx64-nvidia-cuda"

@k = addrspace(4) global [400 x { float, float, float }] zeroinitializer, align 4
@plain = addrspace(1) global [400 x float] zeroinitializer, align 4

; CHECK-LABEL: define float @sum(
; CHECK:       loop:
; CHECK-NEXT:    %[[AT:.*]] = phi ptr addrspace(4) [ @k, %entry ], [ %[[NEXT:.*]], %loop ]
; CHECK:         %[[X:.*]] = addrspacecast ptr addrspace(4) %[[AT]] to ptr
; CHECK-NEXT:    %x = load float, ptr %[[X]]
; CHECK:         %[[Z:.*]] = getelementptr i8, ptr addrspace(4) %[[AT]], i64 8
; CHECK-NEXT:    %[[Z2:.*]] = addrspacecast ptr addrspace(4) %[[Z]] to ptr
; CHECK-NEXT:    %z = load float, ptr %[[Z2]]
; CHECK:         %a = load float, ptr %a.place
; CHECK:         %[[NEXT]] = getelementptr i8, ptr addrspace(4) %[[AT]], i64 12
; HOST-LABEL: define float @sum(
; HOST-NOT:     phi ptr
; HOST:         ret float
define float @sum(ptr %from, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %s.next, %loop ]
  %index = zext nneg i32 %i to i64
  %x.place = getelementptr inbounds { float, float, float }, ptr addrspacecast (ptr addrspace(4) @k to ptr), i64 %index
  %x = load float, ptr %x.place, align 4
  %z.place = getelementptr inbounds i8, ptr %x.place, i64 8
  %z = load float, ptr %z.place, align 4
  %a.place = getelementptr inbounds float, ptr %from, i64 %index
  %a = load float, ptr %a.place, align 4
  %xz = fmul float %x, %z
  %xza = fmul float %xz, %a
  %s.next = fadd float %s, %xza
  %i.next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %end
end:
  ret float %s.next
}

; Neither what each thread begins elsewhere, nor other memory, nor what is no counter.
; CHECK-LABEL: define float @others(
; CHECK-NOT:     phi ptr
; CHECK:         ret float
define float @others(i32 %begin, i32 %n, ptr %next) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %begin, %entry ], [ %i.next, %loop ]
  %j = phi i32 [ 0, %entry ], [ %j.next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %s.next, %loop ]
  %i.index = sext i32 %i to i64
  %x.place = getelementptr inbounds { float, float, float }, ptr addrspacecast (ptr addrspace(4) @k to ptr), i64 %i.index
  %x = load float, ptr %x.place, align 4
  %j.index = zext nneg i32 %j to i64
  %y.place = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(1) @plain to ptr), i64 %j.index
  %y = load float, ptr %y.place, align 4
  %w = load i32, ptr %next, align 4
  %w.index = sext i32 %w to i64
  %z.place = getelementptr inbounds { float, float, float }, ptr addrspacecast (ptr addrspace(4) @k to ptr), i64 %w.index
  %z = load float, ptr %z.place, align 4
  %xy = fmul float %x, %y
  %xyz = fmul float %xy, %z
  %s.next = fadd float %s, %xyz
  %i.next = add nsw i32 %i, 1
  %j.next = add nuw nsw i32 %j, 1
  %more = icmp slt i32 %j.next, %n
  br i1 %more, label %loop, label %end
end:
  ret float %s.next
}
