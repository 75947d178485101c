//===- UnitBitcode.h - a unit for the link to analyse -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With -flto an object carries, beside its code, the unit's host code as
// bitcode from before any optimisation, in the section .llvm.lto, where lld
// looks for it (--fat-lto-objects). Who links otherwise gets the code that was
// compiled from the unit alone.
//
// The bitcode is a whole unit: with the descriptor and its constructor, with
// the kernels for the host processor, and with what the link must know to
// insert directives, one row a unit in the named metadata "dragon.units":
//
//   !{i32 format, i32 DRAGON_MODULE_VERSION, !"id", !"source", ptr @summary,
//     i1 staging, i1 wavefront, i32 flatten-limit,
//     !{!"cublas.yaml", !"library: ..."}, !{!"id of a unit", ...}}
//
// Units with relocatable device code have no summary. It is in the row of the
// module that the device link made, whose last column names those units.
//
// lld drops the names of values: those of variables and fields, by which
// remarks call buffers, are kept in the metadata "dragon.value" of their
// instructions.
//
// Library summaries are those of libraries that the unit refers to. Directives
// are missing in it, and calls into libraries are not announced: the bitcode
// must not be linked without passes/rewrite/WholeProgram. So it refers to a
// function that exists nowhere, and whose name says so.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_UNITBITCODE_H
#define DRAGON_PASSES_REWRITE_UNITBITCODE_H

#include "passes/rewrite/ModuleEmbedding.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"

#include <string>

namespace dragon {

inline constexpr llvm::StringLiteral UnitsName = "dragon.units";
/// Raised with each change of the rows.
inline constexpr unsigned UnitFormat = 3;
/// Metadata of the device link's module: the units whose kernels are in it.
inline constexpr llvm::StringLiteral LinkedUnitsName = "dragon.linked";
inline constexpr llvm::StringLiteral LinkMark =
    "__dragon_objects_made_with_flto_are_linked_by_dragon_cc_with_flto";

struct UnitOptions {
  EmbeddingOptions Embedding;
  /// The kernels for the host processor as bitcode; empty: none.
  llvm::StringRef CpuFile;
};

/// The bitcode of a unit as clang hands it to the optimiser. Empty if it is
/// instrumented (sanitizers, coverage, profiles), which would be lost.
llvm::Expected<std::string> unitBitcode(const llvm::Module &M,
                                        const UnitOptions &Options);

/// Gives values the names that the metadata keep, and removes these. The
/// context must not discard names.
void restoreNames(llvm::Module &M);

/// Puts it into the object that the module becomes.
void embedBitcode(llvm::Module &M, llvm::StringRef Bitcode);

/// `dragon-unit`: makes the module what unitBitcode() would write of it, with
/// the summaries of -dragon-summary.
class UnitPass : public llvm::PassInfoMixin<UnitPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_UNITBITCODE_H
