; The pair of orders that stands for atomicCAS ends as none; all others stay.
; RUN: %dragon-opt-passes -passes='function(dragon-relax-exchanges),verify' -S %s | FileCheck %s
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %s | %dragon-opt-passes -passes='function(dragon-relax-exchanges),verify' -S | FileCheck %s --check-prefix=HOST

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @exchange(
; CHECK-NEXT:    cmpxchg ptr %p, i32 %a, i32 %b monotonic monotonic
; CHECK-NEXT:    cmpxchg ptr %p, i32 %a, i32 %b release monotonic
; CHECK-NEXT:    cmpxchg ptr %p, i32 %a, i32 %b seq_cst seq_cst
; CHECK-NEXT:    cmpxchg weak ptr %p, i32 %a, i32 %b acq_rel monotonic
; HOST:          cmpxchg ptr %p, i32 %a, i32 %b release seq_cst
define void @exchange(ptr %p, i32 %a, i32 %b) {
  cmpxchg ptr %p, i32 %a, i32 %b release seq_cst
  cmpxchg ptr %p, i32 %a, i32 %b release monotonic
  cmpxchg ptr %p, i32 %a, i32 %b seq_cst seq_cst
  cmpxchg weak ptr %p, i32 %a, i32 %b acq_rel monotonic
  ret void
}
