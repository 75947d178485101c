//===- UniqueSymbols.cpp - -dragon-unique-symbols -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Outlining calls each function's kernels after the function, in a gpu.module
// for each: @main_kernel::@main_kernel, @main_kernel_0::@main_kernel. The code
// for the device is one module, and kernels are known by their names alone.
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Passes.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace dragon::ir {

#define GEN_PASS_DEF_DRAGONUNIQUESYMBOLS
#include "dragon/mlir/DragonPasses.h.inc"

namespace {

class UniqueSymbols : public impl::DragonUniqueSymbolsBase<UniqueSymbols> {
  void runOnOperation() override {
    ModuleOp Module = getOperation();
    SmallVector<gpu::GPUModuleOp> Parts(Module.getOps<gpu::GPUModuleOp>());
    // The first one keeps its name.
    llvm::StringSet<> Names;
    for (gpu::GPUModuleOp Part : Parts)
      for (auto Symbol : Part.getOps<SymbolOpInterface>())
        Names.insert(Symbol.getName());
    llvm::StringSet<> Seen;
    for (gpu::GPUModuleOp Part : Parts) {
      SmallVector<SymbolOpInterface> Symbols(Part.getOps<SymbolOpInterface>());
      for (SymbolOpInterface Symbol : Symbols) {
        // What is defined elsewhere has one name everywhere.
        if (Symbol.isDeclaration() || Seen.insert(Symbol.getName()).second)
          continue;
        const std::string Stem =
            (Part.getName() + "_" + Symbol.getName()).str();
        std::string Name = Stem;
        for (unsigned I = 0; Names.contains(Name) || Seen.contains(Name); ++I)
          Name = Stem + "_" + std::to_string(I);
        Seen.insert(Name);
        auto To = StringAttr::get(&getContext(), Name);
        if (failed(SymbolTable::replaceAllSymbolUses(Symbol, To, Module))) {
          Symbol.emitError("cannot be renamed: something refers to '")
              << Symbol.getName() << "' in a way that is not known";
          return signalPassFailure();
        }
        renameSlice(Part, Symbol.getNameAttr(), To);
        Symbol.setName(To);
      }
    }
  }

  /// Summaries name the copies for slices by text.
  static void renameSlice(gpu::GPUModuleOp Part, StringAttr From,
                          StringAttr To) {
    for (auto Kernel : Part.getOps<gpu::GPUFuncOp>())
      if (SummaryAttr Summary = summaryOf(Kernel);
          Summary && Summary.getSliceName() == From)
        Kernel->setAttr(SummaryAttrName, withSlice(Summary, To.getValue()));
  }
};

} // namespace

} // namespace dragon::ir
