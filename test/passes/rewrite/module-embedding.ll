; RUN: %dragon-opt-passes -passes=dragon-pipeline -dragon-module-id=ab12 \
; RUN:   -dragon-source=dir/foo.cu -dragon-cpu -S %s | FileCheck %s

; The descriptor refers to the fat binary, to the kernels for the host processor
; (which another object defines) and to the source; its constructor comes before
; clang's, and this one, which registers kernels, before those of the program.

target triple = "x86_64-pc-linux-gnu"

@image = internal constant [4 x i8] c"fatb", section ".nv_fatbin"
@__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1180844977, i32 1, ptr @image, ptr null }, section ".nvFatBinSegment", align 8
@llvm.global_ctors = appending global [2 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @own, ptr null }, { i32, ptr, ptr } { i32 65535, ptr @__cuda_module_ctor, ptr null }]

define internal void @own() {
  ret void
}

define internal void @__cuda_module_ctor() {
  ret void
}

; CHECK-DAG: @dragon_cpu_module_ab12 = extern_weak constant
; CHECK-DAG: [[SOURCE:@dragon.source]] = private unnamed_addr constant [11 x i8] c"dir/foo.cu\00"
; CHECK: @dragon.module = internal constant { i32, i32, ptr, ptr, i64, ptr, ptr } { i32 {{[0-9]+}}, i32 0, ptr @__cuda_fatbin_wrapper, ptr null, i64 0, ptr @dragon_cpu_module_ab12, ptr [[SOURCE]] }
; CHECK: @llvm.global_ctors = appending global {{.*}} { i32 65535, ptr @own, ptr null }, {{.*}} { i32 101, ptr @__cuda_module_ctor, ptr null }, {{.*}} { i32 100, ptr @dragon.register_module, ptr null }
; CHECK: define internal void @dragon.register_module()
; CHECK-NEXT: entry:
; CHECK-NEXT:   call void @__dragon_register_module(ptr @dragon.module)
; CHECK-NEXT:   ret void
