; Functions of device code that no other unit can call are as good as static;
; kernels and variables are the host's to find.
; RUN: %dragon-opt-passes -passes=dragon-pipeline -S %s | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: @table = addrspace(1) externally_initialized global ptr @chosen
@table = addrspace(1) externally_initialized global ptr @chosen

; CHECK: define internal float @inline_function(
define linkonce_odr float @inline_function(float %x) {
  ret float %x
}

; CHECK: define internal float @chosen(
define float @chosen(float %x) {
  %y = call float @inline_function(float %x)
  ret float %y
}

; CHECK: define weak_odr ptx_kernel void @kernel(
define weak_odr ptx_kernel void @kernel(ptr %p) {
  %x = load float, ptr %p
  %y = call float @chosen(float %x)
  store float %y, ptr %p
  ret void
}
