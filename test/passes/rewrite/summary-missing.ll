; RUN: not %dragon-opt-passes -passes=dragon-pipeline -dragon-summary=%t.none \
; RUN:   -dragon-summary-archs=sm_90 -S %s -o /dev/null 2>&1 | FileCheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK: error: cannot read kernel summary '{{.*}}.none.sm_90': No such file or directory
define i32 @main() {
  ret i32 0
}
