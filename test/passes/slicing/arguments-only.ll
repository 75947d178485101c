; Kernels that write what their arguments say.
; RUN: %dragon-opt-passes -passes='print<dragon-slice-legality>' -disable-output %s 2>&1 | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

%struct.Sizes = type { i64, i64 }

; CHECK: kernel 'rows': sliceable by a clone, acts on buffers only, follows its arguments{{$}}
define ptx_kernel void @rows(ptr %p, ptr %a, i64 %pitch, i32 %n) {
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = mul i32 %block, %size
  %i = add i32 %first, %thread
  %in = icmp slt i32 %i, %n
  br i1 %in, label %write, label %end
write:
  %wide = sext i32 %i to i64
  %offset = mul i64 %wide, %pitch
  %row = getelementptr i8, ptr %a, i64 %offset
  %place = getelementptr ptr, ptr %p, i64 %wide
  store ptr %row, ptr %place
  br label %end
end:
  ret void
}

; A structure among the arguments is no memory.
; CHECK: kernel 'structure': sliceable as it is, acts on buffers only, follows its arguments{{$}}
define ptx_kernel void @structure(ptr %p, ptr byval(%struct.Sizes) %sizes) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %field = getelementptr %struct.Sizes, ptr %sizes, i64 0, i32 1
  %size = load i64, ptr %field
  %place = getelementptr i64, ptr %p, i32 %thread
  store i64 %size, ptr %place
  ret void
}

; Which thread comes last is not known.
; CHECK: kernel 'together': sliceable as it is, acts on buffers only{{$}}
define ptx_kernel void @together(ptr %p) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 %thread, ptr %p
  ret void
}

; CHECK: kernel 'together_in_a_row': sliceable as it is, acts on buffers only{{$}}
define ptx_kernel void @together_in_a_row(ptr %p) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %place = getelementptr i32, ptr %p, i32 %row
  store i32 %thread, ptr %place
  ret void
}

; CHECK: kernel 'reads': sliceable as it is, acts on buffers only{{$}}
define ptx_kernel void @reads(ptr %p, ptr %q) {
  %v = load i32, ptr %q
  store i32 %v, ptr %p
  ret void
}

; CHECK: kernel 'clock': sliceable as it is, acts on buffers only{{$}}
define ptx_kernel void @clock(ptr %p) {
  %v = call i32 @llvm.nvvm.read.ptx.sreg.clock()
  store i32 %v, ptr %p
  ret void
}

; CHECK: kernel 'assembly': sliceable as it is, acts on buffers only{{$}}
define ptx_kernel void @assembly(ptr %p) {
  %v = call i32 asm "mov.u32 $0, %smid;", "=r"()
  store i32 %v, ptr %p
  ret void
}

; CHECK: kernel 'adds': sliceable as it is, acts on buffers only{{$}}
define ptx_kernel void @adds(ptr %p) {
  %old = atomicrmw add ptr %p, i32 1 monotonic
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.clock()
