; Which kernels do nothing but what their footprints say.
; RUN: %dragon-opt-passes -passes='print<dragon-slice-legality>' -disable-output %s 2>&1 | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

@counter = addrspace(1) global i32 0
@counters = addrspace(1) global [4 x i32] zeroinitializer
@table = addrspace(1) constant [2 x i32] [i32 1, i32 2]
@symbol = addrspace(4) externally_initialized global i32 0
@tile = internal addrspace(3) global [32 x i32] poison

; CHECK: kernel 'buffers': sliceable as it is, acts on buffers only{{$}}
define ptx_kernel void @buffers(ptr %a) {
  %v = load i32, ptr addrspacecast (ptr addrspace(4) @symbol to ptr)
  %t = load i32, ptr addrspacecast (ptr addrspace(1) @table to ptr)
  store i32 %v, ptr addrspacecast (ptr addrspace(3) @tile to ptr)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p = getelementptr i32, ptr %a, i32 %t
  %old = atomicrmw add ptr %p, i32 1 seq_cst
  call void @callee(ptr %a)
  ret void
}
define internal void @callee(ptr %a) {
  store i32 0, ptr %a
  ret void
}

; CHECK: kernel 'variable': sliceable as it is{{$}}
define ptx_kernel void @variable(ptr %a) {
  %v = load i32, ptr addrspacecast (ptr addrspace(1) @counter to ptr)
  store i32 %v, ptr %a
  ret void
}

; CHECK: kernel 'inside_variable': sliceable as it is{{$}}
define ptx_kernel void @inside_variable(ptr %a) {
  store i32 1, ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(1) @counters to ptr), i64 8)
  ret void
}

; CHECK: kernel 'variable_in_function': sliceable as it is{{$}}
define ptx_kernel void @variable_in_function(ptr %a) {
  call void @counts(ptr %a)
  ret void
}
define internal void @counts(ptr %a) {
  %old = atomicrmw add ptr addrspace(1) @counter, i32 1 seq_cst
  ret void
}

; CHECK: kernel 'prints': sliceable as it is{{$}}
define ptx_kernel void @prints(ptr %a) {
  %n = call i32 @vprintf(ptr %a, ptr null)
  ret void
}
declare i32 @vprintf(ptr, ptr)

; CHECK: kernel 'heap': sliceable as it is{{$}}
define ptx_kernel void @heap(ptr %a) {
  %p = call ptr @malloc(i64 4)
  store i32 0, ptr %p
  ret void
}
declare ptr @malloc(i64)

; CHECK: kernel 'texture': sliceable as it is{{$}}
define ptx_kernel void @texture(ptr %a, i64 %t) {
  %v = call {float, float, float, float} @llvm.nvvm.tex.unified.1d.v4f32.s32(i64 %t, i32 0)
  %x = extractvalue {float, float, float, float} %v, 0
  store float %x, ptr %a
  ret void
}

; CHECK: kernel 'texture_asm': sliceable as it is{{$}}
define ptx_kernel void @texture_asm(ptr %a, i64 %t) {
  %v = call float asm "tex.1d.f32.s32 $0, [$1, $2];", "=f,l,r"(i64 %t, i32 0)
  store float %v, ptr %a
  ret void
}
