//===- Remarks.h - what the compiler tells the user -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every decision carries its reason as data: a remark id of Remarks.def and its
// keyed arguments. One function turns a reason into text (for tests without
// IR), one into an LLVM remark of the pass "dragon", which clang shows with
// -Rpass=dragon, -Rpass-missed=dragon and -Rpass-analysis=dragon and writes to
// the optimisation record.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REMARKS_H
#define DRAGON_PASSES_REMARKS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>

namespace llvm {
class BasicBlock;
class DiagnosticLocation;
class Function;
class OptimizationRemarkEmitter;
} // namespace llvm

namespace dragon {

enum class RemarkId {
#define REMARK(ID, KIND, WORDING) ID,
#include "passes/Remarks.def"
};

enum class RemarkKind { Passed, Missed, Analysis };

llvm::StringRef remarkName(RemarkId Id);
RemarkKind remarkKind(RemarkId Id);

/// Why something was done, or not.
struct Reason {
  Reason(RemarkId Id) : Id(Id) {}
  Reason &&with(llvm::StringRef Key, std::string Value) && {
    Args.emplace_back(Key.str(), std::move(Value));
    return std::move(*this);
  }
  llvm::StringRef get(llvm::StringRef Key) const;

  RemarkId Id;
  llvm::SmallVector<std::pair<std::string, std::string>, 4> Args;
};

std::string remarkText(const Reason &Why);

/// Emits the remark for code in Block at Where. Arguments that the wording does
/// not mention are added to the record.
void emitRemark(llvm::OptimizationRemarkEmitter &Emitter, const Reason &Why,
                const llvm::DiagnosticLocation &Where,
                const llvm::BasicBlock *Block);

/// While one lives, emitRemark does nothing.
class MutedRemarks {
public:
  MutedRemarks();
  ~MutedRemarks();
  MutedRemarks(const MutedRemarks &) = delete;
  MutedRemarks &operator=(const MutedRemarks &) = delete;
};

} // namespace dragon

#endif // DRAGON_PASSES_REMARKS_H
