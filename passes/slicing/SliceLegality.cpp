//===- SliceLegality.cpp - may blocks run in separate launches ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/SliceLegality.h"

#include "dragon/KernelSummary.h"
#include "passes/SourceNames.h"
#include "passes/slicing/ArgumentsOnly.h"
#include "passes/slicing/SideEffects.h"
#include "passes/support/DeviceFunctions.h"
#include "passes/support/ExtraParameters.h"
#include "passes/support/LaunchValues.h"
#include "passes/support/SpinLoops.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

/// " (file.cu:12)" if the place is known.
std::string place(const Instruction &I) {
  const DILocation *Loc = outOfLibraries(I.getDebugLoc());
  if (!Loc)
    return "";
  StringRef File = Loc->getFilename();
  return (" (" + File.substr(File.rfind('/') + 1) + ":" +
          Twine(Loc->getLine()) + ")")
      .str();
}

/// PTX in which a launch of a part of the grid would look different.
const char *asmObstacle(StringRef Asm) {
  if (Asm.contains("%ctaid") || Asm.contains("%nctaid"))
    return "reads the block's position in inline assembly";
  if (Asm.contains("%envreg"))
    return "uses cooperative grid synchronisation";
  if (Asm.contains("%gridid"))
    return "reads %gridid in inline assembly";
  if (Asm.contains("%cluster") || Asm.contains("%nclusterid") ||
      Asm.contains("%is_explicit_cluster") || Asm.contains("barrier.cluster") ||
      Asm.contains("clusterlaunchcontrol") || Asm.contains("mapa."))
    return "uses thread block clusters";
  return nullptr;
}

const char *intrinsicObstacle(Intrinsic::ID ID) {
  StringRef Name = Intrinsic::getBaseName(ID);
  if (!Name.consume_front("llvm.nvvm."))
    return nullptr;
  if (Name.starts_with("read.ptx.sreg.envreg"))
    return "uses cooperative grid synchronisation";
  if (Name == "read.ptx.sreg.gridid")
    return "reads %gridid";
  if (Name.starts_with("read.ptx.sreg.cluster") ||
      Name.starts_with("read.ptx.sreg.nclusterid") ||
      Name.starts_with("barrier.cluster") || Name.starts_with("mapa") ||
      Name.starts_with("getctarank") ||
      Name.starts_with("is.explicit.cluster") ||
      Name.starts_with("clusterlaunchcontrol"))
    return "uses thread block clusters";
  return nullptr;
}

/// Functions of CUDA's device library that know nothing of the grid.
bool isHarmlessDeclaration(const Function &F) {
  StringRef Name = F.getName();
  return F.isIntrinsic() || isMathFunction(Name) || isPrinting(Name) ||
         Name == "__nvvm_reflect" || Name == "malloc" || Name == "free" ||
         Name == "memcpy" || Name == "memset" || Name == "memmove";
}

std::string declarationObstacle(const Function &F) {
  StringRef Name = F.getName();
  if (isHarmlessDeclaration(F))
    return "";
  if (Name.starts_with("cudaCG"))
    return "uses cooperative grid synchronisation";
  if (Name.starts_with("cuda") || Name.starts_with("__cuda"))
    return ("calls '" + Name + "' of the device runtime (dynamic parallelism)")
        .str();
  return ("calls '" + Name + "', whose code is in another translation unit")
      .str();
}

/// A function that a call through a pointer may reach and that stands in the
/// way, or null.
Function *obstacleBehindPointers(Module &M) {
  auto InTheWay = [](Instruction &I) {
    if (readsGridPosition(I))
      return true;
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call)
      return false;
    if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
      return asmObstacle(Asm->getAsmString()) != nullptr;
    Function *Callee = Call->getCalledFunction();
    return Callee && Callee->isDeclaration() &&
           (intrinsicObstacle(Callee->getIntrinsicID()) ||
            !declarationObstacle(*Callee).empty());
  };
  auto Affected = functionsThatNeed(M, InTheWay);
  for (Function &F : M)
    if (!F.isIntrinsic() && addressIsTaken(F) &&
        (F.isDeclaration() || Affected.contains(&F)))
      return &F;
  return nullptr;
}

} // namespace

bool readsGridPosition(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  const std::optional<LaunchValue> Value =
      Call ? launchValueOf(Call->getIntrinsicID()) : std::nullopt;
  return Value && Value->isOfGrid();
}

std::string sliceCloneName(StringRef Kernel) {
  return (SlicePrefix + Kernel).str();
}

static bool neverWaits(const SetVector<Function *> &Functions,
                       Function *Written) {
  if (Written && !SpinLoops(SpinLoops::Contends).couldFind(*Written))
    return true;
  SpinLoops Spins(SpinLoops::Contends);
  return none_of(Functions, [&](Function *F) { return Spins.find(*F); });
}

SliceLegality checkSliceLegality(Function &Kernel, Function *Written) {
  SliceLegality Result;
  auto Refuse = [&](const Twine &Reason) {
    Result.Sliceable = false;
    Result.Reason = Reason.str();
    return Result;
  };
  if (Kernel.isDeclaration())
    return Refuse("its code is in another translation unit");
  if (Kernel.hasFnAttribute("nvvm.cluster_dim") ||
      Kernel.hasFnAttribute("nvvm.maxclusterrank"))
    return Refuse("uses thread block clusters");

  Module &M = *Kernel.getParent();
  bool Indirect = false;
  SetVector<Function *> Reached = reachableFunctions(Kernel, &Indirect);
  SpinLoops Spins(SpinLoops::GlobalMemory);
  const bool MaySpin =
      !Written || SpinLoops(SpinLoops::GlobalMemory).couldFind(*Written);
  for (Function *F : Reached) {
    for (Instruction &I : instructions(*F)) {
      Result.NeedsClone |= readsGridPosition(I);
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call)
        continue;
      if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand())) {
        if (const char *Why = asmObstacle(Asm->getAsmString()))
          return Refuse(Why + place(I));
        continue;
      }
      Function *Callee = Call->getCalledFunction();
      if (!Callee || !Callee->isDeclaration())
        continue;
      if (const char *Why = intrinsicObstacle(Callee->getIntrinsicID()))
        return Refuse(Why + place(I));
      if (std::string Why = declarationObstacle(*Callee); !Why.empty())
        return Refuse(Why + place(I));
    }
    if (const Instruction *Load = MaySpin ? Spins.find(*F) : nullptr)
      return Refuse("waits in a loop for what another block writes" +
                    place(*Load));
  }
  if (Indirect)
    if (Function *Target = obstacleBehindPointers(M))
      return Refuse("calls through a pointer, which may reach '" +
                    Target->getName() +
                    "' (reads the block's position, or is unknown here)");
  if (Result.NeedsClone) {
    uint64_t Bytes = 6 * sizeof(uint32_t);
    for (Argument &A : Kernel.args())
      Bytes += M.getDataLayout().getTypeAllocSize(
          A.hasByValAttr() ? A.getParamByValType() : A.getType());
    if (Bytes > MaxParameterBytes)
      return Refuse("its parameters leave no room for the block offset");
  }
  Result.Sliceable = true;
  Result.ActsOnBuffersOnly = actsOnBuffersOnly(Kernel);
  Result.FollowsArguments =
      Result.ActsOnBuffersOnly && followsArguments(Kernel);
  Result.NeverWaits = !Indirect && neverWaits(Reached, Written);
  return Result;
}

SliceDecisions checkSliceLegality(Module &M, Module *Written) {
  SliceDecisions Result;
  for (Function &F : M)
    if (F.getCallingConv() == CallingConv::PTX_Kernel && !F.isDeclaration())
      Result[F.getName()] = checkSliceLegality(
          F, Written ? Written->getFunction(F.getName()) : nullptr);
  return Result;
}

} // namespace dragon
