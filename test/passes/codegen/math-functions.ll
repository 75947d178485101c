; Calls of libdevice stay calls until the first half of the optimiser has done
; its work, and are inlined then.
; RUN: %dragon-opt-passes -passes='dragon-keep-math,function(early-cse,instcombine),verify' -S %s | FileCheck %s --check-prefix=KEPT
; RUN: %dragon-opt-passes -passes='dragon-keep-math,function(early-cse,instcombine),dragon-inline-math,verify' -S %s | FileCheck %s
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %s | %dragon-opt-passes -passes='dragon-keep-math,verify' -S | FileCheck %s --check-prefix=HOST

target triple = "nvptx64-nvidia-cuda"

; One of the two is enough.
; KEPT-LABEL: define double @twice(
; KEPT:         call double @__nv_exp(double %x)
; KEPT-NOT:     call double @__nv_exp
; KEPT:         ret double
; CHECK-LABEL: define double @twice(
; CHECK-NOT:     call
; CHECK:         fmul double
; CHECK:         fdiv double
; CHECK-NOT:     fdiv double
; CHECK:         ret double
define double @twice(double %x) {
  %a = call double @__nv_exp(double %x)
  %b = call double @__nv_exp(double %x)
  %c = fadd double %a, %b
  ret double %c
}

; What has a second result is inlined when it asks for it.
; KEPT: define internal double @__nv_exp(double %x) #[[KEPT:[0-9]+]]
; KEPT: define internal double @__nv_modf(double %x, ptr %whole) #[[ALWAYS:[0-9]+]]
; KEPT: define internal double @other(double %x) #[[ALWAYS]]
; KEPT-DAG: attributes #[[KEPT]] = { noinline {{.*}}memory(none) "dragon-math" }
; KEPT-DAG: attributes #[[ALWAYS]] = { alwaysinline }
; HOST-NOT: dragon-math
define internal double @__nv_exp(double %x) alwaysinline {
  %small = fcmp olt double %x, 1.0
  br i1 %small, label %fast, label %slow
fast:
  %f = fmul double %x, %x
  ret double %f
slow:
  %s = fdiv double %x, 3.0
  ret double %s
}

define internal double @__nv_modf(double %x, ptr %whole) alwaysinline {
  store double %x, ptr %whole
  ret double %x
}

define internal double @other(double %x) alwaysinline {
  ret double %x
}

define double @keeps(double %x, ptr %p) {
  %a = call double @__nv_modf(double %x, ptr %p)
  %b = call double @other(double %a)
  ret double %b
}
