//===- SymbolicValues.h - sizes, streams, files --------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The buffer program names sizes, streams and files by numbers. Two values have
// the same number only if they are the same whenever the program runs.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_SYMBOLICVALUES_H
#define DRAGON_PASSES_LIFETIME_SYMBOLICVALUES_H

#include "passes/lifetime/BuilderFacts.h"

namespace dragon {

class SymbolicValues {
public:
  explicit SymbolicValues(BuilderFacts &Facts) : Facts(Facts) {}

  /// 0 if the size is not known.
  SizeId sizeOf(const llvm::SCEV *Bytes);
  const llvm::SCEV *wideNumber(const llvm::Value *V, unsigned Depth = 0);
  /// The bytes that the call's operands say: Bytes, or Bytes times Count if
  /// Count is no negative number. Null if they are not known.
  const llvm::SCEV *bytesOf(const llvm::CallBase &Call, int Bytes, int Count);

  StreamId streamOf(const llvm::Value *Stream);
  StreamId launchStream(const llvm::CallBase &Launch);

  /// -1 if it may be one of several files.
  int fileOf(llvm::Value *File);
  bool hasFiles() const { return !Files.empty(); }

private:
  bool descriptorEscapes(const llvm::Value *Descriptor) const;

  BuilderFacts &Facts;
  llvm::DenseMap<const llvm::SCEV *, SizeId> Sizes;
  llvm::DenseMap<const llvm::Value *, StreamId> Streams;
  llvm::DenseMap<const llvm::Value *, int> Files;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_SYMBOLICVALUES_H
