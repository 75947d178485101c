; A kernel whose threads do not wait for each other becomes a loop over the
; threads of a block; arguments are loaded once.
; RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' -S %s | FileCheck %s

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.Params = type { ptr, i32 }

@counter = addrspace(1) externally_initialized global i32 7, align 4
@coefficients = addrspace(4) externally_initialized constant [2 x float] [float 1.0, float 2.0], align 4
@text = private unnamed_addr addrspace(4) constant [2 x i8] c"x\00"
@points_at_counter = addrspace(1) externally_initialized global ptr addrspacecast (ptr addrspace(1) @counter to ptr), align 8

; CHECK: target triple = "{{(x86_64|aarch64)}}
; The program may write to constants before a launch: they are no constants here.
; CHECK-DAG: @counter = internal global i32 7, align 4
; CHECK-DAG: @coefficients = internal global [2 x float]
; CHECK-DAG: @points_at_counter = internal global ptr @counter, align 8
; CHECK: @dragon.kernels = private constant [2 x { ptr, ptr, i32, i32 }] [
; CHECK-SAME: { ptr, ptr, i32, i32 } { ptr @dragon.name{{[.0-9]*}}, ptr @add, i32 16777216, i32 0 }
; CHECK-SAME: { ptr, ptr, i32, i32 } { ptr @dragon.name{{[.0-9]*}}, ptr @by_value, i32 0, i32 0 }
; CHECK: @dragon.variables = private constant [3 x { ptr, ptr, i64 }]
; CHECK: @dragon_cpu_module_0 = constant { i32, i32, ptr, i64, ptr, ptr, i64 } { i32 3, i32 2, ptr @dragon.kernels, i64 3, ptr @dragon.variables, ptr {{@dragon.name|null}}

; CHECK-LABEL: define internal void @add.thread(
; CHECK-SAME:    ptr %a, i32 %n, ptr noundef nonnull align 8 dereferenceable(88) %dragon.context,
; CHECK-SAME:    i32 noundef range(i32 0, 1024) %dragon.tid.x
; CHECK:         load i32, {{.*}} !range {{.*}}, !invariant.load
; CHECK:         call i32 @index(i32 %b, ptr %dragon.context, i32 %dragon.tid.x, i32 %dragon.tid.y, i32 %dragon.tid.z)
; CHECK:         atomicrmw add ptr @counter, i32 1 seq_cst
define ptx_kernel void @add(ptr %a, i32 %n) #0 {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %i = call i32 @index(i32 %b)
  %in = icmp slt i32 %i, %n
  br i1 %in, label %work, label %out
work:
  %p = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %p
  %c = load float, ptr addrspace(4) @coefficients
  %w = fadd contract float %v, %c
  store float %w, ptr %p
  %old = atomicrmw add ptr addrspacecast (ptr addrspace(1) @counter to ptr), i32 1 syncscope("block") seq_cst
  br label %out
out:
  ret void
}

; CHECK-LABEL: define internal i32 @index(i32 %b, ptr noundef nonnull
; CHECK:         add i32 %{{.*}}, %dragon.tid.x
define linkonce_odr i32 @index(i32 %b) convergent {
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %m = mul i32 %b, %n
  %i = add i32 %m, %t
  ret i32 %i
}

define ptx_kernel void @by_value(ptr byval(%struct.Params) align 8 "nvvm.grid_constant" %p) {
  %a = load ptr, ptr %p
  store i32 0, ptr %a
  ret void
}

; CHECK-LABEL: define internal void @add(
; CHECK-SAME:    %ctx, ptr noundef nonnull %args)
; CHECK:       entry:
; CHECK:         [[N:%.*]] = load i32, ptr
; CHECK:       z:
; CHECK:       y:
; CHECK:       x:
; CHECK-NEXT:    [[X:%.*]] = phi i32 [ 0, %y ]
; CHECK-NEXT:    call void @add.thread(ptr %{{.*}}, i32 [[N]], ptr %ctx, i32 [[X]], i32 %{{.*}}, i32 %{{.*}})

; A structure by value is copied once, and handed to each thread as its own copy.
; CHECK-LABEL: define internal void @by_value(
; CHECK:         [[COPY:%.*]] = alloca %struct.Params
; CHECK:         call void @llvm.memcpy
; CHECK:       x:
; CHECK:         call void @by_value.thread(ptr byval(%struct.Params) align 8 [[COPY]],
; CHECK-NOT: ptx_kernel
; CHECK-NOT: addrspace
; CHECK-NOT: sm_90
; CHECK-NOT: nvvm

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
attributes #0 = { convergent noinline optnone "target-cpu"="sm_90" "target-features"="+ptx88" "nvvm.maxntid"="256" }
