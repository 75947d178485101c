; RUN: %dragon-opt-passes -passes=dragon-pipeline -S %s | FileCheck %s

; A module without fat binary, summary and host kernels has nothing to tell.

target triple = "x86_64-pc-linux-gnu"

; CHECK-NOT: dragon_
define i32 @main() {
  ret i32 0
}
