//===- WholeProgram.cpp - the units of a program together -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/WholeProgram.h"

#include "dragon/CompilerABI.h"
#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/CallEffects.h"
#include "passes/lifetime/KernelSummaries.h"
#include "passes/rewrite/DirectCalls.h"
#include "passes/rewrite/HostDirectives.h"
#include "passes/rewrite/LibraryResidency.h"
#include "passes/rewrite/LinkDiagnostics.h"
#include "passes/rewrite/UnitBitcode.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace dragon {

namespace {

/// One row of "dragon.units".
struct Unit {
  StringRef Id, Source;
  StringRef Summary;
  SmallVector<StringRef, 1> Summarized; ///< the units that it is the summary of
  bool Staging = true, Wavefront = true;
  unsigned FlattenLimit = 0;
  SmallVector<MemoryBufferRef, 2> Libraries;
};

const ConstantInt *number(const MDNode &Row, unsigned I) {
  if (I >= Row.getNumOperands())
    return nullptr;
  return mdconst::dyn_extract_or_null<ConstantInt>(Row.getOperand(I));
}

StringRef text(const MDNode &Row, unsigned I) {
  auto *Text = I < Row.getNumOperands()
                   ? dyn_cast_or_null<MDString>(Row.getOperand(I))
                   : nullptr;
  return Text ? Text->getString() : "";
}

Expected<Unit> read(const MDNode &Row) {
  Unit Result;
  Result.Id = text(Row, 2);
  Result.Source = text(Row, 3);
  const ConstantInt *Format = number(Row, 0), *Version = number(Row, 1);
  if (!Format || Format->getZExtValue() != UnitFormat || !Version ||
      Version->getZExtValue() != DRAGON_MODULE_VERSION ||
      Row.getNumOperands() != 10)
    return createStringError(
        "'" + Result.Source +
        "' was compiled with -flto by another version of dragon-cc; compile "
        "it again, or link with -fno-lto");
  if (auto *Global =
          mdconst::dyn_extract_or_null<GlobalVariable>(Row.getOperand(4)))
    if (Global->hasInitializer())
      if (auto *Bytes =
              dyn_cast<ConstantDataSequential>(Global->getInitializer()))
        Result.Summary = Bytes->getRawDataValues();
  if (const ConstantInt *Staging = number(Row, 5))
    Result.Staging = Staging->isOne();
  if (const ConstantInt *Wavefront = number(Row, 6))
    Result.Wavefront = Wavefront->isOne();
  if (const ConstantInt *Limit = number(Row, 7))
    Result.FlattenLimit = Limit->getZExtValue();
  if (auto *Libraries = dyn_cast_or_null<MDNode>(Row.getOperand(8)))
    for (unsigned I = 0; I + 1 < Libraries->getNumOperands(); I += 2)
      Result.Libraries.push_back(
          {text(*Libraries, I + 1), text(*Libraries, I)});
  Result.Summarized.push_back(Result.Id);
  if (auto *Linked = dyn_cast_or_null<MDNode>(Row.getOperand(9)))
    for (unsigned I = 0; I < Linked->getNumOperands(); ++I)
      Result.Summarized.push_back(text(*Linked, I));
  return Result;
}

void removeLinkMark(Module &M) {
  Function *Mark = M.getFunction(LinkMark);
  if (!Mark)
    return;
  SmallVector<GlobalVariable *, 8> References;
  for (User *U : Mark->users())
    if (auto *Reference = dyn_cast<GlobalVariable>(U))
      References.push_back(Reference);
  removeFromUsedLists(M, [&](Constant *C) {
    return is_contained(References, C->stripPointerCasts());
  });
  for (GlobalVariable *Reference : References) {
    Reference->removeDeadConstantUsers();
    Reference->eraseFromParent();
  }
  Mark->removeDeadConstantUsers();
  if (Mark->use_empty())
    Mark->eraseFromParent();
}

/// Those of all units; each file once.
Error addLibraries(ArrayRef<Unit> Units) {
  StringSet<> Added;
  for (const Unit &One : Units)
    for (MemoryBufferRef File : One.Libraries)
      if (Added.insert(File.getBuffer()).second)
        if (Error Failed = addLibrarySummaries(File))
          return Failed;
  return Error::success();
}

Error insert(Module &M, ModuleAnalysisManager &Analyses, ArrayRef<Unit> Units) {
  if (Error Failed = addLibraries(Units))
    return Failed;
  // Copies that are analysed have names, too.
  LLVMContext &Context = M.getContext();
  bool Discards = Context.shouldDiscardValueNames();
  Context.setDiscardValueNames(false);
  scope_exit Restore([&] { Context.setDiscardValueNames(Discards); });
  restoreNames(M);
  makeCallsDirect(M);
  // What lld has made internal and nobody calls.
  Analyses.invalidate(M, GlobalDCEPass().run(M, Analyses));

  HostOptions Options;
  SmallVector<UnitSummary, 8> Summaries;
  Options.FlattenLimit = 0;
  for (const Unit &One : Units) {
    Summaries.push_back({One.Summarized, One.Summary});
    Options.Staging &= One.Staging;
    Options.Wavefront &= One.Wavefront;
    Options.FlattenLimit = std::max(Options.FlattenLimit, One.FlattenLimit);
  }
  if (insertDirectives(M, Analyses, KernelSummaries(M, Summaries), Options))
    Analyses.invalidate(M, PreservedAnalyses::none());
  insertResidency(M);
  return Error::success();
}

} // namespace

PreservedAnalyses WholeProgramPass::run(Module &M,
                                        ModuleAnalysisManager &Analyses) {
  NamedMDNode *Rows = M.getNamedMetadata(UnitsName);
  if (!Rows)
    return PreservedAnalyses::all();
  LLVMContext &Context = M.getContext();
  SmallVector<Unit, 8> Units;
  for (const MDNode *Row : Rows->operands()) {
    Expected<Unit> One = read(*Row);
    if (!One) {
      Context.emitError(toString(One.takeError()));
      return PreservedAnalyses::all();
    }
    Units.push_back(std::move(*One));
  }
  // In opt there is no pipeline, and its own handler does.
  if (Pipeline)
    printLinkRemarks(Context);
  if (Error Failed = insert(M, Analyses, Units))
    Context.emitError(toString(std::move(Failed)));
  Rows->eraseFromParent();
  removeLinkMark(M);
  if (Pipeline) {
    Analyses.invalidate(M, PreservedAnalyses::none());
    ModulePassManager Manager = Pipeline();
    Manager.run(M, Analyses);
  }
  return PreservedAnalyses::none();
}

} // namespace dragon
