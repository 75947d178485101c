//===- Passes.td - passes of the MLIR front end -----------*- tablegen -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_MLIR_PASSES
#define DRAGON_MLIR_PASSES

include "mlir/Pass/PassBase.td"

def DragonUniqueSymbols : Pass<"dragon-unique-symbols", "::mlir::ModuleOp"> {
  let summary = "gives what is in different gpu.modules different names";
  let description = [{
    Kernels, functions and globals of all `gpu.module`s become one module for
    the device. The first of several that have one name keeps it.
  }];
}

def DragonKernelAccess : Pass<"dragon-kernel-access", "::mlir::ModuleOp"> {
  let summary = "summarises what kernels touch and surely write";
  let description = [{
    Gives each kernel of the module's `gpu.module`s the attribute
    `dragon.summary`: per memref argument, which bytes the kernel may read and
    write as expressions of the launch, what it surely overwrites, and whether
    it may run in slices. An attribute that is there already is replaced.
  }];
  let dependentDialects = ["::dragon::ir::DragonDialect"];
}

def DragonUnrollExchanges : Pass<"dragon-unroll-exchanges", "::mlir::ModuleOp"> {
  let summary = "unrolls loops around launches until buffers are where they were";
  let description = [{
    Of host loops whose memrefs change places from iteration to iteration, so
    that each launch is of buffers that are known. Canonicalization then removes
    the loop's memrefs.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def DragonInsertDirectives : Pass<"dragon-insert-directives", "::mlir::ModuleOp"> {
  let summary = "tells the runtime what is known of buffers' contents";
  let description = [{
    Reads the buffer program of each function that launches kernels and puts in
    what placement decides: flags of allocations (`dragon.alloc`), discards,
    last uses, next uses, launches that follow each other. Kernels without a
    `dragon.summary` may touch anything.
  }];
  let dependentDialects = ["::dragon::ir::DragonDialect", "::mlir::arith::ArithDialect"];
  let options = [
    Option<"print", "print", "bool", "false", "print buffer programs and what placement makes of them; change nothing">,
    Option<"wavefront", "wavefront", "bool", "true", "let launches that follow each other run together">
  ];
}

def DragonSliceKernels : Pass<"dragon-slice-kernels", "::mlir::ModuleOp"> {
  let summary = "adds copies of kernels that run a part of a grid";
  let description = [{
    `__dragon_slice_<kernel>` takes the offset of its blocks and the size of the
    whole grid as six more i32 arguments; for each kernel whose summary says that
    it may run in slices and that asks for its position in the grid.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect"];
}

def DragonLocations : Pass<"dragon-locations", "::mlir::ModuleOp"> {
  let summary = "gives call sites without a place that of their callers";
  let description = [{
    Operations that compilers make at unknown locations, once inlined, are call
    sites of nowhere, which `-ensure-debug-info-scope-on-llvm-func` cannot take.
    What has no place at all stays as it is.
  }];
}

def ConvertDragonToLLVM : Pass<"convert-dragon-to-llvm", "::mlir::ModuleOp"> {
  let summary = "turns host functions into calls of the dragon runtime";
  let description = [{
    Operations of the dragon and of the gpu dialect become calls of
    `dragon/dragon.h` and of the CUDA runtime API, which the dragon runtime
    implements; those of other dialects become LLVM's as their dialects say.
    Structured control flow must be lowered before; kernels are left alone.

    A constructor registers the kernels that are launched, with a fat binary
    that the compiler plugin adds (`-dragon-fat-binary`).
  }];
}

#endif // DRAGON_MLIR_PASSES
