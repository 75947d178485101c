; Functions of libdevice with a body stay code; declared ones become intrinsics or
; the C library's. Directed rounding in float goes through double, in double it is
; the runtime's.
; RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define internal float @__nv_saturatef(
; CHECK:         call float @llvm.maxnum.f32(
; CHECK:         call float @llvm.minnum.f32(
define float @__nv_saturatef(float %x) {
  %r = call float @llvm.nvvm.saturate.f(float %x)
  ret float %r
}

; CHECK-LABEL: define internal void @kernel.thread(
; CHECK:         call float @__nv_saturatef(
; CHECK:         call float @sinf(
; CHECK:         call float @llvm.sqrt.f32(
; CHECK:         fmul double
; CHECK:         fptrunc double %{{.*}} to float
; CHECK:         call double @dragon_cpu_math_mul_f64(double %y, double %y, i32 3)
; CHECK:         call i32 @llvm.fptosi.sat.i32.f32(
; CHECK:         call i32 @dragon_cpu_math_fns(
define ptx_kernel void @kernel(ptr %out, float %x, double %y) {
  %a = call float @__nv_saturatef(float %x)
  %b = call float @__nv_sinf(float %a)
  %c = call float @__nv_sqrtf(float %b)
  %d = call float @llvm.nvvm.mul.rm.f(float %c, float %x)
  %e = call double @llvm.nvvm.mul.rp.d(double %y, double %y)
  %f = call i32 @llvm.nvvm.f2i.rz(float %d)
  %g = call i32 @llvm.nvvm.fns(i32 %f, i32 0, i32 1)
  store i32 %g, ptr %out
  %p = getelementptr i8, ptr %out, i64 8
  store double %e, ptr %p
  ret void
}

declare float @__nv_sinf(float)
declare float @__nv_sqrtf(float)
declare float @llvm.nvvm.saturate.f(float)
declare float @llvm.nvvm.mul.rm.f(float, float)
declare double @llvm.nvvm.mul.rp.d(double, double)
declare i32 @llvm.nvvm.f2i.rz(float)
declare i32 @llvm.nvvm.fns(i32, i32, i32)
