//===- PointsToSets.h - objects and what points to them ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of the analysis of aliases (Aliases.h): the objects of a function,
// for each value the set of addresses that it may be, for each object the sets
// of addresses that may be stored in it, and whether it escapes. Sets only
// grow.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_POINTSTOSETS_H
#define DRAGON_PASSES_LIFETIME_POINTSTOSETS_H

#include "passes/lifetime/Targets.h"
#include "passes/placement/BufferProgram.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/DataLayout.h"
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Function;
class GlobalVariable;
class Instruction;
class Type;
class Value;
} // namespace llvm

namespace dragon {

/// Values in which a pointer may travel.
bool mayHoldPointer(const llvm::Type *T);

enum class ObjectKind { Unknown, Buffer, File, Local, Global };

struct MemoryObject {
  ObjectKind Kind;
  /// The allocating or opening call, alloca or global.
  const llvm::Value *Site = nullptr;
  BufferKind Buffer = BufferKind::Host;
  bool Escapes = false;
  std::string EscapesTo;
  bool EscapesToKernel = false;
  const llvm::Instruction *EscapesAt = nullptr;
};

class PointsToSets {
public:
  static constexpr unsigned Unknown = 0;

  const std::vector<MemoryObject> &objects() const { return Objects; }
  /// The object of an allocating call, opening call, alloca or global.
  const unsigned *objectOf(const llvm::Value *Site) const;
  TargetSet pointsTo(const llvm::Value *V) const;
  /// All that is stored in the object, at any offset.
  TargetSet contents(unsigned Object) const;
  /// All that may be at a place in it.
  TargetSet contents(unsigned Object, Place At) const;

protected:
  /// Where a value points to, and when that last became more.
  struct Pointer {
    TargetSet Targets;
    unsigned Changed = 0;
  };

  PointsToSets(llvm::Function &F,
               llvm::ArrayRef<const llvm::GlobalVariable *> OwnGlobals);

  Pointer &pointer(const llvm::Value *V);
  const TargetSet &targetsOf(const llvm::Value *V) {
    return pointer(V).Targets;
  }
  void add(const llvm::Value *V, const TargetSet &Targets);
  void addContents(unsigned Object, Place At, const TargetSet &Targets);
  TargetSet places(const llvm::Value *Address, const llvm::Type *T);
  void store(const TargetSet &To, const TargetSet &Targets,
             const llvm::Instruction &At);
  /// Stores whatever has escaped, in so many bytes, or in any number.
  void storeUnknown(const llvm::Value *To, std::optional<uint64_t> Bytes);
  /// Bytes: how many; null if not known.
  void copyContents(const llvm::Value *To, const llvm::Value *From,
                    const llvm::Value *Bytes, const llvm::Instruction &At);
  TargetSet load(const TargetSet &From) const;
  void escape(const TargetSet &Targets, const llvm::Instruction &At,
              llvm::function_ref<std::string()> To);

  llvm::Function &F;
  const llvm::DataLayout &Layout;
  std::vector<MemoryObject> Objects;
  llvm::DenseMap<const llvm::Value *, unsigned> ObjectOf;
  std::vector<std::map<Place, TargetSet>> Contents;
  /// By object: when its contents, or that it escapes, last changed.
  std::vector<unsigned> ObjectChanged;
  /// The number of visits.
  unsigned Now = 0;

private:
  void addObjects(llvm::ArrayRef<const llvm::GlobalVariable *> OwnGlobals);
  TargetSet constantTargets(const llvm::Value *V) const;

  llvm::DenseMap<const llvm::Value *, unsigned> NumberOf;
  std::deque<Pointer> Pointers; ///< by number; they stay where they are
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_POINTSTOSETS_H
