; Kernels whose threads may end when they like, and those where others wait for them, but at barriers.
; RUN: %dragon-opt-passes -passes='print<dragon-slice-legality>' -disable-output %s 2>&1 | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; What the atomic returns decides nothing.
; CHECK: kernel 'counts': sliceable as it is, acts on buffers only{{$}}
define ptx_kernel void @counts(ptr %bins, ptr %which, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr i32, ptr %which, i32 %i
  %bin = load i32, ptr %place
  %at = getelementptr i32, ptr %bins, i32 %bin
  %old = atomicrmw add ptr %at, i32 1 monotonic
  %next = add i32 %i, 1
  %goes = icmp slt i32 %next, %n
  br i1 %goes, label %loop, label %end
end:
  ret void
}

; It tries again until nobody was quicker.
; CHECK: kernel 'tries': sliceable as it is, acts on buffers only, may wait{{$}}
define ptx_kernel void @tries(ptr %sum, float %x) {
entry:
  %first = load i32, ptr %sum
  br label %loop
loop:
  %known = phi i32 [ %first, %entry ], [ %found, %loop ]
  %number = bitcast i32 %known to float
  %more = fadd float %number, %x
  %new = bitcast float %more to i32
  %pair = cmpxchg ptr %sum, i32 %known, i32 %new monotonic monotonic
  %found = extractvalue { i32, i1 } %pair, 0
  %done = extractvalue { i32, i1 } %pair, 1
  br i1 %done, label %end, label %loop
end:
  ret void
}

; Who has the lock must give it back.
; CHECK: kernel 'locks': sliceable as it is, acts on buffers only, may wait{{$}}
define ptx_kernel void @locks(ptr %lock, ptr %data) {
entry:
  br label %loop
loop:
  %old = atomicrmw xchg ptr %lock, i32 1 acquire
  %mine = icmp eq i32 %old, 0
  br i1 %mine, label %inside, label %loop
inside:
  %v = load i32, ptr %data
  %w = add i32 %v, 1
  store i32 %w, ptr %data
  store atomic i32 0, ptr %lock release, align 4
  ret void
}

; A lock of the block's threads.
; CHECK: kernel 'shared': sliceable as it is, acts on buffers only, may wait{{$}}
@own = internal addrspace(3) global i32 poison
define ptx_kernel void @shared(ptr %data) {
entry:
  br label %loop
loop:
  %old = atomicrmw xchg ptr addrspace(3) @own, i32 1 acquire
  %mine = icmp eq i32 %old, 0
  br i1 %mine, label %inside, label %loop
inside:
  store i32 1, ptr %data
  store atomic i32 0, ptr addrspace(3) @own release, align 4
  ret void
}
