//===- DragonBase.td - the dragon dialect -----------------*- tablegen -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_MLIR_BASE
#define DRAGON_MLIR_BASE

include "mlir/IR/OpBase.td"

def Dragon_Dialect : Dialect {
  let name = "dragon";
  let cppNamespace = "::dragon::ir";
  let summary = "GPU buffers over storage, and what is known of their contents";
  let description = [{
    What programs tell the dragon runtime, and what the compiler tells it for
    them: which buffers lie over a file, which contents are dead, which are
    needed next. The operations mean what the functions of `dragon/dragon.h`
    mean; a buffer is a `memref` whose address the host and the device share.

    A program may use `dragon.map`, `dragon.alloc` and the others itself.
    `-dragon-insert-directives` adds them to programs in the `gpu` dialect, and
    `-convert-dragon-to-llvm` turns them into calls of the runtime.

    The attribute `dragon.summary` of a `gpu.func` says what the kernel may
    touch through its arguments, and what it surely writes.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

#endif // DRAGON_MLIR_BASE
