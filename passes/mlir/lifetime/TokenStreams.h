//===- TokenStreams.h - streams of asynchronous work ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A token of the gpu dialect stands for work in a stream. The work is in the
// stream of the first token that it depends on, or in a new one. A loop's token
// is in the stream of the token that enters the loop, if each iteration hands
// on a token of that stream.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LIFETIME_TOKENSTREAMS_H
#define DRAGON_PASSES_MLIR_LIFETIME_TOKENSTREAMS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace dragon::ir {

class TokenStreams {
public:
  /// The number of the token's stream: 0, 1, ...; nothing if it is not known.
  std::optional<unsigned> of(mlir::Value Token);

private:
  std::optional<unsigned> compute(mlir::Value Token);

  llvm::DenseMap<mlir::Value, std::optional<unsigned>> Known;
  unsigned Number = 0; ///< of streams so far
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LIFETIME_TOKENSTREAMS_H
