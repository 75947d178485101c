//===- Remarks.cpp - what the compiler tells the user ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Remarks.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticInfo.h"

using namespace llvm;

namespace dragon {

namespace {

struct Entry {
  const char *Name;
  RemarkKind Kind;
  const char *Wording;
};

constexpr Entry Entries[] = {
#define REMARK(ID, KIND, WORDING) {#ID, RemarkKind::KIND, WORDING},
#include "passes/Remarks.def"
};

const Entry &entry(RemarkId Id) { return Entries[static_cast<size_t>(Id)]; }

/// Cuts the wording into literal text and keys.
void forEachPiece(StringRef Wording, function_ref<void(StringRef)> OnText,
                  function_ref<void(StringRef)> OnKey) {
  while (!Wording.empty()) {
    auto [Text, Rest] = Wording.split('{');
    if (!Text.empty())
      OnText(Text);
    if (Rest.empty())
      return;
    auto [Key, After] = Rest.split('}');
    OnKey(Key);
    Wording = After;
  }
}

template <typename Remark>
void emit(OptimizationRemarkEmitter &Emitter, Remark &&Out, const Reason &Why) {
  SmallVector<StringRef, 4> Mentioned;
  forEachPiece(
      entry(Why.Id).Wording, [&](StringRef Text) { Out << Text; },
      [&](StringRef Key) {
        Mentioned.push_back(Key);
        Out << ore::NV(Key, Why.get(Key));
      });
  Out << DiagnosticInfoOptimizationBase::setExtraArgs();
  for (const auto &[Key, Value] : Why.Args)
    if (!is_contained(Mentioned, Key))
      Out << ore::NV(Key, Value);
  Emitter.emit(Out);
}

} // namespace

StringRef remarkName(RemarkId Id) { return entry(Id).Name; }
RemarkKind remarkKind(RemarkId Id) { return entry(Id).Kind; }

StringRef Reason::get(StringRef Key) const {
  for (const auto &[Name, Value] : Args)
    if (Name == Key)
      return Value;
  return "?";
}

std::string remarkText(const Reason &Why) {
  std::string Text;
  forEachPiece(
      entry(Why.Id).Wording, [&](StringRef Piece) { Text += Piece; },
      [&](StringRef Key) { Text += Why.get(Key); });
  return Text;
}

static thread_local unsigned Muted = 0;
MutedRemarks::MutedRemarks() { ++Muted; }
MutedRemarks::~MutedRemarks() { --Muted; }

void emitRemark(OptimizationRemarkEmitter &Emitter, const Reason &Why,
                const DiagnosticLocation &Where, const BasicBlock *Block) {
  if (Muted)
    return;
  const char *Pass = "dragon";
  StringRef Name = remarkName(Why.Id);
  switch (remarkKind(Why.Id)) {
  case RemarkKind::Passed:
    return emit(Emitter, OptimizationRemark(Pass, Name, Where, Block), Why);
  case RemarkKind::Missed:
    return emit(Emitter, OptimizationRemarkMissed(Pass, Name, Where, Block),
                Why);
  case RemarkKind::Analysis:
    return emit(Emitter, OptimizationRemarkAnalysis(Pass, Name, Where, Block),
                Why);
  }
}

} // namespace dragon
