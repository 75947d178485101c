//===- SliceLegality.h - may blocks run in separate launches ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch that does not fit into device memory is run as several launches of
// parts of its grid. CUDA lets the blocks of a grid run in any order, so that
// is the same program, unless the kernel relies on more than CUDA promises:
//
//   while (*(volatile int *)flag == 0) ;   // waits for a block of another
//   slice cg::this_grid().sync();                // all blocks must be there at
//   once
//
// and unless we cannot replace what the kernel knows of its position in the
// grid. The answer carries its reason in the user's words.
//
// A loop waits for another block if one of its exit conditions depends on a
// volatile or atomic load (or on an atomic that changes nothing) of memory that
// is not shared memory. Loops around a compare-and-swap that does change memory
// are taken for retries or for locks within a block's own time: CUDA gives no
// promise that two blocks run at once, so waiting for another one that way is
// no correct program.
//
// It can be asked of unoptimised and of simplified code; of simplified code
// (functions inlined, values in registers) it refuses less.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_SLICELEGALITY_H
#define DRAGON_PASSES_SLICING_SLICELEGALITY_H

#include "llvm/ADT/StringMap.h"
#include <cstdint>
#include <string>

namespace llvm {
class Function;
class Instruction;
class Module;
} // namespace llvm

namespace dragon {

struct SliceLegality {
  bool Sliceable = false;
  /// The kernel reads blockIdx or gridDim: a slice needs the clone. Without it
  /// the kernel itself can be launched with a smaller grid.
  bool NeedsClone = false;
  /// Its slices may run before those of earlier launches that touch nothing
  /// that they write, and so on (SideEffects.h).
  bool ActsOnBuffersOnly = false;
  bool FollowsArguments = false; ///< ArgumentsOnly.h
  /// No thread waits for another one, but at barriers (SpinLoops::Contends).
  bool NeverWaits = false;
  /// Why not, in words for the user: "uses cooperative grid synchronisation".
  std::string Reason;
};

/// By kernel name.
using SliceDecisions = llvm::StringMap<SliceLegality>;

/// `Written`: the kernel as it was written, if `Kernel` is a simplified copy of
/// it: there more accesses are volatile, so that they stay.
SliceLegality checkSliceLegality(llvm::Function &Kernel,
                                 llvm::Function *Written = nullptr);
/// All kernels of the module; `Written`: what it is a copy of.
SliceDecisions checkSliceLegality(llvm::Module &M,
                                  llvm::Module *Written = nullptr);

/// True if I reads a component of blockIdx or gridDim.
bool readsGridPosition(const llvm::Instruction &I);

/// The symbol of the clone: `__dragon_slice_<kernel>`.
std::string sliceCloneName(llvm::StringRef Kernel);

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_SLICELEGALITY_H
