//===- HostPlan.h - streams and waits of host functions ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the lowering of host functions asks of the program as it was before.
//
// Waits: an operation without a token is done when the next one begins. The
// host can tell only if it looks at the memory: where that is out of its reach,
// or nothing but operations of the device uses it, there is no wait, and the
// runtime may run launches together. Whose memory a function's argument is, the
// module may not tell: then the runtime is asked when the program runs. Work
// without a token is in the default stream, that with one in a stream which is
// ordered with it as CUDA has it.
//
// Streams: a token is a stream. `gpu.wait async` without dependencies, and what
// else has a token and none, makes one; a result's token is the stream of the
// first dependency, which waits for the others by events. So tokens fall into
// webs of those that may be one stream: results with first dependencies, block
// arguments with what is passed for them. A stream is destroyed at the last
// operation of its web. Where it is not clear that there is one stream only, it
// is left alone.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LOWERING_HOSTPLAN_H
#define DRAGON_PASSES_MLIR_LOWERING_HOSTPLAN_H

#include "dragon/mlir/Dragon.h"

#include "mlir/IR/BuiltinOps.h"

namespace dragon::ir {

class HostPlan {
public:
  explicit HostPlan(mlir::ModuleOp Module);

  /// Whether the host waits for an operation that has neither dependencies nor
  /// a token.
  bool waits(mlir::Operation *Op) const { return Waiting.contains(Op); }

  /// Memrefs and pointers that the operation may change, of which the runtime
  /// knows whether the host sees them: it waits if so.
  mlir::ValueRange asked(mlir::Operation *Op) const {
    auto It = Asked.find(Op);
    return It == Asked.end() ? mlir::ValueRange()
                             : mlir::ValueRange(It->second);
  }

  /// Whether the host may touch what an operation allocates.
  bool hostTouches(mlir::Operation *Alloc) const {
    return Touched.contains(Alloc);
  }

  /// The tokens, operands or results, whose streams end behind the operation.
  mlir::ValueRange endingAt(mlir::Operation *Op) const {
    auto It = Ending.find(Op);
    return It == Ending.end() ? mlir::ValueRange()
                              : mlir::ValueRange(It->second);
  }

private:
  void findWaits(mlir::ModuleOp Module);
  void findEnds(mlir::Operation *Function);

  llvm::DenseSet<mlir::Operation *> Waiting, Touched;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 1>> Asked;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> Ending;
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LOWERING_HOSTPLAN_H
