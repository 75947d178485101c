//===- Aliases.h - which pointers may point where ------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Points-to sets of one flattened function, after Andersen (1994): flow-
// insensitive, by inclusion, with the bytes at each constant offset of an
// object apart. Objects are the buffers (CallEffects.def), open files, local
// variables and the globals that only this function uses; everything else is
// one object, Unknown: a pointer to it may also be one to anything that
// escapes.
//
//   d = alloc           d -> {buffer + 0}
//   *slot = d           content(slot, 0) = {buffer + 0}
//   unknown(d)          buffer escapes: loads from Unknown may give it
//
// What else an address may become, ExposedAddresses.cpp says.
//
// Escaping is what makes a call that nothing is known of dangerous; a pointer
// that never leaves cannot be used by it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_ALIASES_H
#define DRAGON_PASSES_LIFETIME_ALIASES_H

#include "passes/libraries/LibraryFunction.h"
#include "passes/lifetime/CallEffects.h"
#include "passes/lifetime/KernelSummaries.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DataLayout.h"
#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class CallBase;
class Constant;
class Function;
class GlobalVariable;
class Instruction;
class LoadInst;
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

/// Where in an object: at Offset, or at Offset plus any multiple of Stride (the
/// same field of some element of an array of structures), or anywhere.
struct Place {
  static constexpr int64_t AnyOffset = INT64_MIN;
  int64_t Offset = AnyOffset;
  int64_t Stride = 0;

  bool anywhere() const { return Offset == AnyOffset; }
  bool exact() const { return !anywhere() && Stride == 0; }
  /// So many bytes further on.
  Place plus(int64_t Bytes) const;
  /// Any multiple of so many bytes further on or back.
  Place plusMultiples(int64_t Bytes) const;
  bool mayBe(const Place &Other) const;
  bool operator==(const Place &Other) const {
    return Offset == Other.Offset && Stride == Other.Stride;
  }
  bool operator<(const Place &Other) const {
    return Offset != Other.Offset ? Offset < Other.Offset
                                  : Stride < Other.Stride;
  }
};

/// An address in an object.
struct Target {
  unsigned Object;
  Place At;
  Target(unsigned Object, Place At) : Object(Object), At(At) {}
  Target(unsigned Object, int64_t Offset) : Object(Object), At{Offset, 0} {}
  static constexpr int64_t AnyOffset = Place::AnyOffset;
  bool operator==(const Target &Other) const {
    return Object == Other.Object && At == Other.At;
  }
  bool operator<(const Target &Other) const {
    return Object != Other.Object ? Object < Other.Object : At < Other.At;
  }
};

/// Addresses, in order.
class TargetSet {
public:
  TargetSet() = default;
  TargetSet(std::initializer_list<Target> Targets)
      : TargetSet(llvm::ArrayRef<Target>(Targets)) {}
  explicit TargetSet(llvm::ArrayRef<Target> Targets);
  /// Returns true if the set grew.
  bool insert(const Target &T);
  bool insert(const TargetSet &Targets);
  bool count(const Target &T) const;
  size_t size() const { return Sorted.size(); }
  bool empty() const { return Sorted.empty(); }
  const Target *begin() const { return Sorted.begin(); }
  const Target *end() const { return Sorted.end(); }
  bool operator==(const TargetSet &Other) const {
    return Sorted == Other.Sorted;
  }
  bool operator!=(const TargetSet &Other) const { return !(*this == Other); }

private:
  llvm::SmallVector<Target, 2> Sorted;
};

class Aliases {
public:
  static constexpr unsigned Unknown = 0;

  /// Globals: whether the function is the only one to use a global, and runs
  /// at most once.
  Aliases(llvm::Function &F, const KernelSummaries &Kernels,
          llvm::ArrayRef<const llvm::GlobalVariable *> OwnGlobals);

  const std::vector<MemoryObject> &objects() const { return Objects; }
  /// The object of an allocating call, opening call, alloca or global.
  const unsigned *objectOf(const llvm::Value *Site) const;
  TargetSet pointsTo(const llvm::Value *V) const;
  /// All that is stored in the object, at any offset.
  TargetSet contents(unsigned Object) const;
  /// What may be at a place in it.
  TargetSet contents(unsigned Object, Place At) const;

private:
  /// Where a value points to, and when that last became more.
  struct Pointer {
    TargetSet Targets;
    unsigned Changed = 0;
  };
  /// What an instruction does depends on where its operands point to, and, if
  /// it is of memory, on what is in the objects there.
  struct Visit {
    llvm::Instruction *I;
    llvm::SmallVector<const Pointer *, 4> Operands;
    bool OfMemory;
    unsigned Last = 0;
  };

  void solve();
  bool isDue(const Visit &V) const;
  Pointer &pointer(const llvm::Value *V);
  const TargetSet &targetsOf(const llvm::Value *V) {
    return pointer(V).Targets;
  }
  void addObjects(llvm::ArrayRef<const llvm::GlobalVariable *> OwnGlobals);
  void visit(llvm::Instruction &I);
  void visitCall(llvm::CallBase &Call);
  void visitLaunch(llvm::CallBase &Call);
  void visitLibrary(llvm::CallBase &Call, const LibraryFunction &Function);
  void add(const llvm::Value *V, const TargetSet &Targets);
  void addContents(unsigned Object, Place At, const TargetSet &Targets);
  TargetSet places(const llvm::Value *Address, const llvm::Type *T);
  void store(const TargetSet &To, const TargetSet &Targets,
             const llvm::Instruction &At);
  /// Whatever has escaped, in so many bytes, or in any number.
  void storeUnknown(const llvm::Value *To, std::optional<uint64_t> Bytes);
  /// Bytes: how many; null if not known.
  void copyContents(const llvm::Value *To, const llvm::Value *From,
                    const llvm::Value *Bytes, const llvm::Instruction &At);
  TargetSet load(const TargetSet &From) const;
  void escape(const TargetSet &Targets, const llvm::Instruction &At,
              llvm::function_ref<std::string()> To);
  TargetSet constantTargets(const llvm::Value *V) const;

  // ExposedAddresses.cpp
  void expose(const llvm::Value *V, const llvm::Instruction &At);
  void exposeOperands(const llvm::Instruction &I);
  void exposeContents(const llvm::Value *Address, uint64_t Bytes,
                      const llvm::Instruction &At);
  void exposeByLoad(const llvm::LoadInst &Load);
  void exposeByCall(const llvm::CallBase &Call, const CallEffect &Effect);
  /// Of two addresses in one object: no address.
  bool isDifference(const llvm::Instruction &I) const;
  bool isAnyNumber(const llvm::Value *V);
  bool becomesUnknown(const llvm::Value *V);
  bool overwriteUnknown(const llvm::Value *To, uint64_t Bytes);
  bool addFromOutside();

  llvm::Function &F;
  const llvm::DataLayout &Layout;
  const KernelSummaries &Kernels;
  std::vector<MemoryObject> Objects;
  llvm::DenseMap<const llvm::Value *, unsigned> ObjectOf;
  llvm::DenseMap<const llvm::Value *, unsigned> NumberOf;
  std::deque<Pointer> Pointers; ///< by number; they stay where they are
  std::vector<std::map<Place, TargetSet>> Contents;
  /// By object: when its contents, or that it escapes, last changed.
  std::vector<unsigned> ObjectChanged;
  /// The number of visits.
  unsigned Now = 0;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_ALIASES_H
