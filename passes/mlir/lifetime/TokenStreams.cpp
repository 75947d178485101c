//===- TokenStreams.cpp - streams of asynchronous work --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lifetime/TokenStreams.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace dragon::ir {

std::optional<unsigned> TokenStreams::of(Value Token) {
  auto It = Known.find(Token);
  if (It != Known.end())
    return It->second;
  std::optional<unsigned> Stream = compute(Token);
  Known[Token] = Stream;
  return Stream;
}

std::optional<unsigned> TokenStreams::compute(Value Token) {
  OpOperand *Init = nullptr, *Next = nullptr;
  Value InLoop;
  if (auto Argument = dyn_cast<BlockArgument>(Token)) {
    if (auto Loop =
            dyn_cast<LoopLikeOpInterface>(Argument.getOwner()->getParentOp())) {
      Init = Loop.getTiedLoopInit(Argument);
      Next = Loop.getTiedLoopYieldedValue(Argument);
      InLoop = Argument;
    }
  } else if (auto Loop = Token.getDefiningOp<LoopLikeOpInterface>()) {
    // A result of the loop is in the stream of the token that goes round.
    if (BlockArgument Argument =
            Loop.getTiedLoopRegionIterArg(cast<OpResult>(Token)))
      return of(Argument);
    return std::nullopt;
  } else if (auto Async = Token.getDefiningOp<gpu::AsyncOpInterface>()) {
    if (!Async.getAsyncDependencies().empty())
      return of(Async.getAsyncDependencies().front());
    return Number++;
  }
  if (!Init || !Next)
    return std::nullopt;
  // The stream of the first token is assumed, and then the assumption checked.
  std::optional<unsigned> Stream = of(Init->get());
  Known[InLoop] = Stream;
  llvm::DenseMap<Value, std::optional<unsigned>> Before = Known;
  if (of(Next->get()) == Stream)
    return Stream;
  // What was found under the wrong assumption may be wrong, too.
  Known = std::move(Before);
  Known.erase(InLoop);
  return std::nullopt;
}

} // namespace dragon::ir
