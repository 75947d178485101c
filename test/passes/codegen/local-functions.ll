; Inline functions of device code are of their unit alone, unless their address is taken; kernels and others stay as they are.
; RUN: %dragon-opt-passes -passes='dragon-local-functions,verify' -S %s | FileCheck %s
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %s | %dragon-opt-passes -passes='dragon-local-functions,verify' -S | FileCheck %s --check-prefix=HOST

target triple = "nvptx64-nvidia-cuda"

$called = comdat any
$named = comdat any
$kernel = comdat any

@table = global ptr @named

; CHECK: define internal void @called() [[LARGER:#[0-9]+]]
; HOST:  define linkonce_odr void @called() comdat
define linkonce_odr void @called() comdat {
  ret void
}

; CHECK: define linkonce_odr void @named() comdat
define linkonce_odr void @named() comdat {
  ret void
}

; CHECK: define linkonce_odr ptx_kernel void @kernel() comdat
define linkonce_odr ptx_kernel void @kernel() comdat {
  call void @called()
  ret void
}

; CHECK: define void @strong()
define void @strong() {
  ret void
}

; Functions of the unit are inlined where they are larger, too.
; CHECK: define internal void @own() [[LARGER]]
; HOST:  define internal void @own() {
define internal void @own() {
  ret void
}

; CHECK: define internal void @apart() [[APART:#[0-9]+]]
define internal void @apart() noinline {
  ret void
}

; CHECK-DAG: attributes [[LARGER]] = { "function-inline-threshold"="12000" }
; CHECK-DAG: attributes [[APART]] = { noinline }
