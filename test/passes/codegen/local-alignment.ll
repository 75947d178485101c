; Local variables are aligned to their size, up to 16 bytes, as nvcc does; what asks for more keeps it.
; RUN: %dragon-opt-passes -passes='function(dragon-align-locals),verify' -S %s | FileCheck %s
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/ %s | %dragon-opt-passes -passes='function(dragon-align-locals),verify' -S | FileCheck %s --check-prefix=HOST

target triple = "nvptx64-nvidia-cuda"

%half2 = type { half, half }

; CHECK-LABEL: define void @locals(
; CHECK-NEXT:    %four = alloca [4 x %half2], align 16
; CHECK-NEXT:    %two = alloca [2 x %half2], align 8
; CHECK-NEXT:    %five = alloca [5 x %half2], align 16
; CHECK-NEXT:    %bytes = alloca [3 x i8], align 2
; CHECK-NEXT:    %wide = alloca [2 x i32], align 32
; CHECK-NEXT:    %empty = alloca {}, align 1
; CHECK-NEXT:    %many = alloca i32, i32 %n, align 4
; HOST:          %four = alloca [4 x %half2], align 4
define void @locals(i32 %n) {
  %four = alloca [4 x %half2], align 4
  %two = alloca [2 x %half2], align 4
  %five = alloca [5 x %half2], align 4
  %bytes = alloca [3 x i8], align 1
  %wide = alloca [2 x i32], align 32
  %empty = alloca {}, align 1
  %many = alloca i32, i32 %n, align 4
  ret void
}
