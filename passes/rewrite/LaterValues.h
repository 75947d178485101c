//===- LaterValues.h - what values will be, and whether ------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operands of a launch that is still to come, computed now:
//
//   for (l = 0; l < layers; ++l) {
//     im2col<<<batch, 256>>>(input, workspace, channels[l]);
//     multiply<<<batch, 256>>>(workspace, ...);      // now
//   }
//
// At the next im2col l will be what it is now and one more, if that is less
// than the number of layers; channels has not changed by then. So the launch's
// expressions are computed once more, where
//   - what nothing computes anew on the path stays as it is,
//   - a phi that is passed once, by one edge, is what comes by that edge,
//   - a load gives what is in memory now if nothing changes it on the path. It
//     may come too early, as long as it is within its variable: with an index
//     that will never be used, another element is read, and the result is of no
//     consequence.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_LATERVALUES_H
#define DRAGON_PASSES_REWRITE_LATERVALUES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <memory>
#include <optional>

namespace llvm {
class AllocaInst;
class BasicBlock;
class DataLayout;
class DominatorTree;
class Instruction;
class LoadInst;
class PHINode;
class Value;
} // namespace llvm

namespace dragon {

/// Bytes in a local variable that only loads and stores refer to.
struct LocalAddress {
  llvm::AllocaInst *Variable = nullptr;
  int64_t Offset = 0;
  /// Each times so many bytes.
  llvm::SmallVector<std::pair<llvm::Value *, int64_t>, 2> Indices;
};

/// Nothing if it is no such address.
std::optional<LocalAddress> localAddress(llvm::Value &Address,
                                         const llvm::DataLayout &Layout);

class LaterValues {
public:
  /// The values are those when Later, a call, is next reached from Now, without
  /// passing Before.
  LaterValues(llvm::Instruction &Now, const llvm::Instruction &Later,
              const llvm::DominatorTree &Dominators,
              llvm::ArrayRef<const llvm::Instruction *> Before);
  /// The values are those at the time when Known, a phi or null, is what is
  /// given, with Later reached any number of times before: of what changes on
  /// the path, only Known is known.
  LaterValues(llvm::Instruction &Now, const llvm::Instruction &Later,
              const llvm::DominatorTree &Dominators, const llvm::PHINode *Known,
              llvm::Value *Given);
  ~LaterValues();

  /// Whether the value can be had now.
  bool has(const llvm::Value *V);
  /// Computes it in front of Now.
  llvm::Value *get(llvm::Value *V);
  /// An i1 in front of Now: false only if Later is not reached. Null: nothing
  /// is known.
  llvm::Value *reached();
  /// An i1 in front of Now: true if the values of get() may not be those when
  /// Later is reached, because the path leads through a loop's header once more
  /// than they are for. To be called after get(). Null: they always are.
  llvm::Value *mispredicted();

private:
  using Blocks = llvm::SmallPtrSet<const llvm::BasicBlock *, 32>;
  /// The time at which the path from Now comes to a block's end or entry.
  struct Moment;
  /// The condition under which a branch keeps to the path.
  struct PathCondition {
    const Moment *At;
    llvm::Value *Condition;
    bool OnTrue;
  };

  const Moment &at(const llvm::BasicBlock &To, bool AtEntry,
                   const Moment &From);
  void enter(Moment &M) const;
  bool passes(const llvm::BasicBlock &B, const Moment &M) const;
  bool passesOnce(const llvm::BasicBlock &B, const Moment &M) const;
  bool assumeOnce(const llvm::BasicBlock &B, unsigned Depth);
  const Moment &firstAtEndOf(const llvm::BasicBlock &B);
  llvm::Value *isTaken(const PathCondition &Path);
  bool isThere(const llvm::Value *V, const Moment &M) const;
  bool has(const llvm::Value *V, const Moment &M, unsigned Depth);
  bool find(const llvm::Value *V, const Moment &M, unsigned Depth);
  llvm::Value *get(llvm::Value *V, const Moment &M);
  llvm::Value *incoming(const llvm::PHINode &Phi, const Moment &M) const;
  bool keeps(const llvm::LoadInst &Load, const LocalAddress &From,
             const Moment &M) const;
  llvm::Value *load(llvm::LoadInst &Load, const Moment &M);

  llvm::Instruction &Now;
  const llvm::DominatorTree &Dominators;
  bool AnyTime = false;
  const llvm::PHINode *Known = nullptr;
  llvm::Value *Given = nullptr;
  std::vector<std::unique_ptr<Moment>> Moments;
  const Moment *Reached;
  /// Blocks that are passed once unless all of this is so.
  llvm::MapVector<const llvm::BasicBlock *, llvm::SmallVector<PathCondition, 2>>
      Again;
  using Key = std::pair<const Moment *, const llvm::Value *>;
  std::map<Key, bool> Found;
  std::map<Key, llvm::Value *> Made;
};

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_LATERVALUES_H
