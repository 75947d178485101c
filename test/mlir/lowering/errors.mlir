// RUN: dragon-opt --convert-dragon-to-llvm --split-input-file --verify-diagnostics %s

func.func @strided(%a: memref<4x4xf32, strided<[8, 1]>>, %b: memref<4x4xf32>) {
  // expected-error @below {{copies ranked memrefs with their elements in one piece, not 'memref<4x4xf32, strided<[8, 1]>>'}}
  // expected-error @below {{'gpu.memcpy' is not supported}}
  gpu.memcpy %a, %b : memref<4x4xf32, strided<[8, 1]>>, memref<4x4xf32>
  return
}
