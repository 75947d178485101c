//===- HandleUses.h - how a library handle is set up ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library works in the stream of its handle:
//
//   cublasCreate(&handle);
//   cublasSetStream(handle, stream);
//   cublasSgemm(handle, ...);             // in `stream`
//
// The stream is known if the handle is in a variable of this function that
// nobody else can reach, and is set at most once.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_HANDLEUSES_H
#define DRAGON_PASSES_LIFETIME_HANDLEUSES_H

#include "passes/lifetime/Aliases.h"

#include <optional>
#include <utility>

namespace llvm {
class StoreInst;
} // namespace llvm

namespace dragon {

class HandleUses {
public:
  HandleUses(llvm::Function &F, const Aliases &Pointers)
      : F(F), Pointers(Pointers) {}

  /// Looks at all uses of the variable that the handle is loaded from. False if
  /// one of them may set the handle or its stream in a way that is not seen.
  bool find(const llvm::Value *Handle);

  bool isCreated() const { return Created; }
  /// The call that sets the stream; null: it is the default stream.
  llvm::CallBase *setter() const { return Setter; }

private:
  /// An object and the offset of the handle in it.
  using Slot = std::pair<unsigned, int64_t>;

  std::optional<Slot> single(const llvm::Value *Address) const;
  std::optional<Slot> handleAt(const llvm::Value *V) const;
  bool touches(const llvm::Value *Address, uint64_t Bytes) const;
  bool allows(llvm::Instruction &I);
  bool allowsStore(const llvm::StoreInst &Store) const;
  bool allowsLoad(const llvm::LoadInst &Load) const;
  bool allowsCall(llvm::CallBase &Call);

  llvm::Function &F;
  const Aliases &Pointers;
  Slot Here;
  bool Created = false;
  llvm::CallBase *Setter = nullptr;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_HANDLEUSES_H
