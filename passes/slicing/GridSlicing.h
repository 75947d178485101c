//===- GridSlicing.h - sub-grid clones of kernels ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each kernel that may be run in slices and reads blockIdx or gridDim, adds
//
//   __dragon_slice_<kernel>(<its parameters>,
//                           i32 offset.x, offset.y, offset.z,
//                           i32 grid.x, grid.y, grid.z)
//
// in which blockIdx.d is ctaid.d + offset.d and gridDim.d is grid.d, here and
// in all functions it calls (those that read them get clones as well). Launched
// with a smaller grid it runs just the blocks that start at the offset. The
// kernel itself stays as it is: launches that fit pay nothing.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_GRIDSLICING_H
#define DRAGON_PASSES_SLICING_GRIDSLICING_H

#include "passes/slicing/SliceLegality.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/PassManager.h"
#include <optional>

namespace dragon {

/// The kernels of M that `Decisions` allows to be sliced, and that need a clone
/// for that.
llvm::SmallVector<llvm::Function *, 16>
kernelsToClone(llvm::Module &M, const SliceDecisions &Decisions);

/// Adds the clones to M for kernels that `Decisions` allows (those it does not
/// name are left alone). Returns true if M changed.
bool addSliceClones(llvm::Module &M, const SliceDecisions &Decisions);

/// `dragon-slice-kernels`. Without decisions it makes its own, on the module as
/// it is.
class GridSlicingPass : public llvm::PassInfoMixin<GridSlicingPass> {
public:
  GridSlicingPass() = default;
  explicit GridSlicingPass(SliceDecisions Given)
      : Decisions(std::move(Given)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  std::optional<SliceDecisions> Decisions;
};

/// `print<dragon-slice-legality>`: one line per kernel.
class SliceLegalityPrinterPass
    : public llvm::PassInfoMixin<SliceLegalityPrinterPass> {
public:
  explicit SliceLegalityPrinterPass(llvm::raw_ostream &To) : To(To) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  llvm::raw_ostream &To;
};

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_GRIDSLICING_H
