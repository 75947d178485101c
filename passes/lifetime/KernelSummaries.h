//===- KernelSummaries.h - what the launched kernels may touch  -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds for the host stub of a kernel its record in the kernel summaries, and
// for each of the stub's parameters what the kernel does through the pointers
// in it. The parameters of stub and kernel are not the same: the host's calling
// convention takes structures apart. What goes where is read off the stub,
// which stores its parameters and passes their addresses to cudaLaunchKernel.
//
// In a module made of several units each has summaries of its own, and two may
// have kernels of one name (static ones). Which one a stub is of is read off
// the function that registers it: it carries its unit's name as an attribute.
// A template's stub may be registered by several units; if their kernels
// differ, nothing is known of it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_KERNELSUMMARIES_H
#define DRAGON_PASSES_LIFETIME_KERNELSUMMARIES_H

#include "dragon/FootprintEval.h"
#include "passes/access/SummaryCopy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace dragon {

/// What a kernel does through one pointer.
struct PointerUse {
  bool Reads = true;
  bool Writes = true;
  bool Escapes = true;
  /// Whether it overwrites the whole buffer, before any read, is a matter of
  /// the launch's numbers.
  bool MayOverwrite = false;
};

/// What it depends on which bytes a kernel touches.
struct FootprintInputs {
  llvm::SmallSet<unsigned, 8> Arguments; ///< of the kernel
  bool GridSize = false;                 ///< the kernel asks for it
};

/// Where a parameter of the stub ends up.
struct StubParameter {
  int Argument = -1; ///< of the kernel; -1: unknown
  uint32_t Offset = 0;
};

struct KernelInfoOnHost {
  std::string Symbol; ///< device symbol
  const SummaryView *View = nullptr;
  const KernelRecord *Record = nullptr; ///< of View; null: nothing is known
  llvm::SmallVector<StubParameter, 8> Parameters;
};

/// The kernels of one unit, or of those whose device code was linked. Blob may
/// be empty: nothing is known of any kernel.
struct UnitSummary {
  llvm::SmallVector<llvm::StringRef, 1> Units;
  llvm::StringRef Blob;
};

/// The attribute of a function that registers kernels: its unit's name.
inline constexpr llvm::StringLiteral UnitAttribute = "dragon-unit";

class KernelSummaries {
public:
  /// A module that is one unit, whose name is of no account.
  KernelSummaries(llvm::Module &M, llvm::StringRef Blob);
  KernelSummaries(llvm::Module &M, llvm::ArrayRef<UnitSummary> Units);

  const KernelInfoOnHost &kernel(const llvm::Function &Stub) const;
  /// Nothing is known, or the kernel follows pointers that it finds in memory.
  bool touchesAnything(const llvm::Function &Stub) const;
  /// It is known that the kernel may run slice by slice.
  bool sliceable(const llvm::Function &Stub) const;
  /// The kernel's use of the pointer in the stub's parameter, Offset bytes in.
  PointerUse use(const llvm::Function &Stub, unsigned Parameter,
                 uint32_t Offset) const;
  /// The sizes of the kernel's arguments; empty if nothing is known of it.
  llvm::ArrayRef<uint32_t> argumentSizes(const llvm::Function &Stub) const;
  /// For the bytes that it touches through the pointer in the stub's parameter.
  FootprintInputs footprintInputs(const llvm::Function &Stub,
                                  unsigned Parameter) const;

private:
  KernelInfoOnHost describe(const llvm::Function &Stub) const;
  const PointerRecord *pointer(const llvm::Function &Stub, unsigned Parameter,
                               uint32_t Offset) const;

  /// A stub's kernel in one unit. View is null if the unit has no summaries.
  struct Registration {
    const SummaryView *View;
    std::string Symbol;
  };
  const SummaryView *addUnit(llvm::StringRef Blob);
  void findRegistrations(
      llvm::Module &M,
      llvm::function_ref<const SummaryView *(const llvm::Function &)> UnitOf);

  std::vector<std::unique_ptr<SummaryCopy>> Units;
  /// For stubs that nothing registers, in a module that is one unit.
  const SummaryView *Only = nullptr;
  llvm::DenseMap<const llvm::Function *, llvm::SmallVector<Registration, 1>>
      Registered;
  mutable llvm::DenseMap<const llvm::Function *,
                         std::unique_ptr<KernelInfoOnHost>>
      Known;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_KERNELSUMMARIES_H
