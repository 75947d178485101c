//===- CallEffects.cpp - what known calls do to buffers -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/CallEffects.h"

#include "passes/SourceNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <utility>

using namespace llvm;

namespace dragon {

namespace {

StringMap<CallEffect> makeTable() {
  constexpr int None = CallEffect::None;
  constexpr int Default = CallEffect::Default;
  (void)Default;
  StringMap<CallEffect> Table;
  CallEffect E;
#define ALLOCATE_INTO(NAME, KIND, OUT, BYTES)                                  \
  E = {CallKind::AllocateInto, BufferKind::KIND, OUT};                         \
  E.Bytes = BYTES;                                                             \
  Table[#NAME] = E;
#define ALLOCATE(NAME, BYTES, COUNT)                                           \
  E = {CallKind::Allocate};                                                    \
  E.Bytes = BYTES;                                                             \
  E.Count = COUNT;                                                             \
  Table[#NAME] = E;
#define FREE(NAME, POINTER)                                                    \
  E = {CallKind::Free, BufferKind::Host, POINTER};                             \
  Table[#NAME] = E;
#define FREE_ALL(NAME)                                                         \
  E = {CallKind::FreeAll};                                                     \
  Table[#NAME] = E;
#define PUBLISH(NAME, FROM)                                                    \
  E = {CallKind::Publish};                                                     \
  E.From = FROM;                                                               \
  Table[#NAME] = E;
#define PARSE(NAME, TEXT, END)                                                 \
  E = {CallKind::Parse, BufferKind::Host, END};                                \
  E.From = TEXT;                                                               \
  Table[#NAME] = E;
#define COPY(NAME, TO, FROM, BYTES, KIND, STREAM)                              \
  E = {CallKind::Copy, BufferKind::Host, TO};                                  \
  E.From = FROM;                                                               \
  E.Bytes = BYTES;                                                             \
  E.CopyKind = KIND;                                                           \
  E.Stream = STREAM;                                                           \
  Table[#NAME] = E;
#define FILL(NAME, TO, BYTES, STREAM)                                          \
  E = {CallKind::Fill, BufferKind::Host, TO};                                  \
  E.Bytes = BYTES;                                                             \
  E.Stream = STREAM;                                                           \
  Table[#NAME] = E;
#define FILE_TRANSFER(NAME, KIND, BUFFER, BYTES, COUNT, FILE, OFFSET)          \
  E = {CallKind::KIND, BufferKind::Host, BUFFER};                              \
  E.Bytes = BYTES;                                                             \
  E.Count = COUNT;                                                             \
  E.File = FILE;                                                               \
  E.Offset = OFFSET;                                                           \
  Table[#NAME] = E;
#define FILE_READ(NAME, BUFFER, BYTES, COUNT, FILE, OFFSET)                    \
  FILE_TRANSFER(NAME, FileRead, BUFFER, BYTES, COUNT, FILE, OFFSET)
#define FILE_WRITE(NAME, BUFFER, BYTES, COUNT, FILE, OFFSET)                   \
  FILE_TRANSFER(NAME, FileWrite, BUFFER, BYTES, COUNT, FILE, OFFSET)
#define STREAM_TRANSFER(NAME, BUFFER)                                          \
  E = {CallKind::StreamTransfer, BufferKind::Host, BUFFER};                    \
  Table[#NAME] = E;
#define FILE_OPEN(NAME)                                                        \
  E = {CallKind::FileOpen};                                                    \
  Table[#NAME] = E;
#define FILE_USE(NAME, FILE)                                                   \
  E = {CallKind::FileUse};                                                     \
  E.File = FILE;                                                               \
  Table[#NAME] = E;
#define NEUTRAL(NAME)                                                          \
  E = {CallKind::Neutral};                                                     \
  Table[#NAME] = E;
#define QUERY(NAME)                                                            \
  E = {CallKind::Query};                                                       \
  Table[#NAME] = E;
#define BARRIER(NAME) Table[#NAME].IsBarrier = true;
#define EXTRACT(NAME)                                                          \
  E = {CallKind::Query};                                                       \
  E.IsExtraction = true;                                                       \
  Table[#NAME] = E;
#include "passes/lifetime/CallEffects.def"
#undef FILE_TRANSFER
  return Table;
}

/// Null: it is not in the table.
const CallEffect *tableEntry(const CallBase &Call) {
  static const StringMap<CallEffect> Table = makeTable();
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->isDeclaration())
    return nullptr;
  auto It = Table.find(Callee->getName());
  return It == Table.end() ? nullptr : &It->second;
}

} // namespace

bool isExtraction(const CallBase &Call) {
  const CallEffect *E = tableEntry(Call);
  return E && E->IsExtraction;
}

const CallEffect *callEffect(const CallBase &Call) {
  const CallEffect *E = tableEntry(Call);
  if (!E || E->IsExtraction)
    return nullptr;
  // A function of that name with fewer parameters is another one.
  int Most = std::max({E->Pointer, E->From, E->Bytes, E->Count, E->CopyKind,
                       E->Stream, E->File, E->Offset});
  if (Most >= static_cast<int>(Call.arg_size()))
    return nullptr;
  return E;
}

int outParameter(const CallBase &Call) {
  const CallEffect *Effect = callEffect(Call);
  if (!Effect)
    return -1;
  if (Effect->Kind == CallKind::AllocateInto)
    return Effect->Pointer;
  if (Call.getCalledFunction()->getName().starts_with("cudaStreamCreate"))
    return 0;
  return -1;
}

bool isLaunch(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && Callee->getName().contains("__device_stub__");
}

namespace {

bool isConfiguration(const Value *V) {
  auto *Call = dyn_cast<CallBase>(V);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && Callee->getName() == "__cudaPushCallConfiguration";
}

} // namespace

const BasicBlock *launchBlock(const BasicBlock &B) {
  auto *Branch = dyn_cast<BranchInst>(B.getTerminator());
  if (!Branch || !Branch->isConditional())
    return nullptr;
  Value *Condition = Branch->getCondition();
  bool OnZero = false;
  if (auto *Compare = dyn_cast<ICmpInst>(Condition)) {
    auto *Zero = dyn_cast<ConstantInt>(Compare->getOperand(1));
    if (!Zero || !Zero->isZero() || !Compare->isEquality())
      return nullptr;
    OnZero = Compare->getPredicate() == ICmpInst::ICMP_EQ;
    Condition = Compare->getOperand(0);
  }
  if (!isConfiguration(Condition))
    return nullptr;
  return Branch->getSuccessor(OnZero ? 0 : 1);
}

const CallBase *launchConfiguration(const CallBase &Launch) {
  // Back from the launch, on all ways.
  constexpr size_t MostBlocks = 64;
  SmallSetVector<const BasicBlock *, 16> Blocks;
  Blocks.insert(Launch.getParent());
  const CallBase *Found = nullptr;
  for (size_t At = 0; At < Blocks.size(); ++At) {
    const BasicBlock *B = Blocks[At];
    const Instruction *I = At ? B->getTerminator() : &Launch;
    // A launch in between, made for an argument: it may be left out.
    const BasicBlock *Success = At ? launchBlock(*B) : nullptr;
    bool Skip = Success && any_of(successors(B), [&](const BasicBlock *S) {
                  return S != Success && Blocks.contains(S);
                });
    for (; I; I = I->getPrevNode())
      if (isConfiguration(I) && !std::exchange(Skip, false))
        break;
    if (I) {
      if (Found && Found != I)
        return nullptr;
      Found = cast<CallBase>(I);
      continue;
    }
    if (pred_empty(B) || Blocks.size() > MostBlocks)
      return nullptr;
    Blocks.insert(pred_begin(B), pred_end(B));
  }
  return Found;
}

CallBase *launchConfiguration(CallBase &Launch) {
  return const_cast<CallBase *>(
      launchConfiguration(static_cast<const CallBase &>(Launch)));
}

std::string calleeName(const CallBase &Call) {
  if (Call.isInlineAsm())
    return "inline assembly";
  const Function *Callee = Call.getCalledFunction();
  if (!Callee)
    return "a call through a pointer";
  StringRef Name = Callee->getName();
  std::string Shown = displayName(Name);
  StringRef Stub = "__device_stub__";
  size_t At = Shown.find(Stub.str());
  if (At != std::string::npos)
    Shown.erase(At, Stub.size());
  return Shown;
}

} // namespace dragon
