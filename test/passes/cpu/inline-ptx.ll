; Statements in PTX become functions; equal statements are one function, and
; registers become values when the optimiser has run.
; RUN: %dragon-opt-passes -passes='dragon-cpu-lower,always-inline,function(sroa,instcombine,simplifycfg),verify' -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define internal void @registers(
; CHECK-NOT:     asm
; CHECK:         [[LANE:%.*]] = and i32 %{{.*}}, 31
; CHECK:         store i32 [[LANE]]
; CHECK-LABEL: define internal void @arithmetic(
; CHECK:         call {{.*}}i32 @llvm.ctpop.i32(
; CHECK:         [[SUM:%.*]] = add i32
; CHECK:         store i32 [[SUM]]
; CHECK-LABEL: define internal void @scoped(
; CHECK:         [[Z:%.*]] = xor i32 %a, 6
; CHECK:         store i32 [[Z]]
; CHECK-LABEL: define internal void @guarded(
; CHECK:         [[IS:%.*]] = icmp eq i32 %{{.*}}, 0
; CHECK:         select i1 [[IS]], i32 7, i32
; CHECK-LABEL: define internal void @loops(
; CHECK:         phi i32
; CHECK-LABEL: define internal void @carries(
; CHECK:         add i64
; CHECK-LABEL: define internal void @halves(
; CHECK:         fadd half
; CHECK-LABEL: define internal void @memory(
; CHECK:         load volatile i32, ptr
; CHECK:         load atomic i32, ptr %{{.*}} acquire
; CHECK:         atomicrmw add ptr %{{.*}}, i32 1 seq_cst
; CHECK:         fence seq_cst
; CHECK-LABEL: define internal void @immediates(
; CHECK:         store i32 %
; CHECK-LABEL: define internal void @tied(
; CHECK:         add i32 %{{.*}}, 1
; CHECK-LABEL: define internal void @shared_window(
; CHECK:         [[SHARED:%.*]] = load ptr, {{.*}}!invariant.load
; CHECK:         getelementptr i8, ptr [[SHARED]], i64
; CHECK-LABEL: define internal void @block_wide(
; CHECK:         call i32 @dragon_cpu_barrier(
; CHECK:         call i32 @dragon_cpu_shuffle(

define ptx_kernel void @registers(ptr %out) {
  %lane = call i32 asm "mov.u32 $0, %laneid;", "=r"()
  store i32 %lane, ptr %out
  ret void
}

define ptx_kernel void @arithmetic(ptr %out, i32 %a, i32 %b) {
  %r = call i32 asm "{ .reg .u32 t; popc.b32 t, $1; add.u32 $0, t, $2; }", "=r,r,r"(i32 %a, i32 %b)
  store i32 %r, ptr %out
  ret void
}

; A nested block hides the outer name.
define ptx_kernel void @scoped(ptr %out, i32 %a) {
  %r = call i32 asm "{.reg .b32 t;\0A mov.b32 t, $1;\0A{.reg .b32 s, t; mov.b32 t, 1; mov.b32 s, t;}\0A xor.b32 t, t, 3; // three\0A xor.b32 $0, t, 5;}", "=r,r"(i32 %a)
  store i32 %r, ptr %out
  ret void
}

define ptx_kernel void @guarded(ptr %out, i32 %a) {
  %r = call i32 asm "{.reg .pred p; setp.eq.u32 p, $1, 0; mov.u32 $0, $1; @p mov.u32 $0, 7;}", "=r,r"(i32 %a)
  store i32 %r, ptr %out
  ret void
}

define ptx_kernel void @loops(ptr %out, i32 %a) {
  %r = call i32 asm "{.reg .pred p; .reg .u32 i; mov.u32 i, $1; mov.u32 $0, 0; again: add.u32 $0, $0, i; sub.u32 i, i, 1; setp.ne.u32 p, i, 0; @p bra again;}", "=r,r"(i32 %a)
  store i32 %r, ptr %out
  ret void
}

define ptx_kernel void @carries(ptr %out, i64 %a, i64 %b) {
  %r = call { i64, i64 } asm "add.cc.u64 $0, $2, $3; addc.u64 $1, $2, $3;", "=l,=l,l,l"(i64 %a, i64 %b)
  %lo = extractvalue { i64, i64 } %r, 1
  store i64 %lo, ptr %out
  ret void
}

define ptx_kernel void @halves(ptr %out, i16 %a, i16 %b) {
  %r = call i16 asm "{add.f16 $0,$1,$2;\0A}", "=h,h,h"(i16 %a, i16 %b)
  store i16 %r, ptr %out
  ret void
}

define ptx_kernel void @memory(ptr %p) {
  %a = call i32 asm sideeffect "ld.volatile.global.u32 $0, [$1+8];", "=r,l,~{memory}"(ptr %p)
  %b = call i32 asm sideeffect "ld.acquire.gpu.u32 $0, [$1];", "=r,l,~{memory}"(ptr %p)
  call void asm sideeffect "red.add.release.gpu.u32 [$0], $1;", "l,r,~{memory}"(ptr %p, i32 1)
  call void asm sideeffect "membar.gl;", "~{memory}"()
  call void asm sideeffect "", "~{memory}"()
  call void asm sideeffect "st.global.v2.u32 [$0], {$1, $2};", "l,r,r,~{memory}"(ptr %p, i32 %a, i32 %b)
  ret void
}

; (a & b) | (~a & c)
define ptx_kernel void @immediates(ptr %out, i32 %a, i32 %b, i32 %c) {
  %r = call i32 asm "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,r,r,n"(i32 %a, i32 %b, i32 %c, i32 202)
  store i32 %r, ptr %out
  ret void
}

define ptx_kernel void @tied(ptr %out, i32 %a) {
  %r = call i32 asm "add.u32 $0, $0, 1;", "=r,0"(i32 %a)
  store i32 %r, ptr %out
  ret void
}

define ptx_kernel void @shared_window(ptr %out, i32 %offset) {
  %r = call i32 asm sideeffect "ld.shared.u32 $0, [$1];", "=r,r"(i32 %offset)
  store i32 %r, ptr %out
  ret void
}

define ptx_kernel void @block_wide(ptr %out, i32 %a) {
  call void asm sideeffect "bar.sync 0;", "~{memory}"()
  %r = call i32 asm sideeffect "{.reg .pred p; shfl.sync.up.b32 $0|p, $1, 1, 0, -1; @p add.u32 $0, $0, $1;}", "=r,r"(i32 %a)
  store i32 %r, ptr %out
  ret void
}
