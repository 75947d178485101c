// RUN: not dragon-cc --dragon-targets=cpu -c %s -o %t.o 2>&1 | FileCheck %s
// CHECK: main-type.mlir:[[#@LINE+1]]:1: error: function 'main' has the type '(f32) -> f32': a program's takes nothing, or i32 and !llvm.ptr as in C, and returns nothing or i32
func.func @main(%a: f32) -> f32 {
  return %a : f32
}
