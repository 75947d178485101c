//===- Assembly.cpp - inline assembly that touches memory -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/Assembly.h"

#include "dragon/KernelSummary.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace dragon {

// By the names of PTX instructions.
bool touchesMemory(StringRef Assembly) {
  static const char *const Words[] = {"ld",
                                      "ldu",
                                      "st",
                                      "atom",
                                      "red",
                                      "cp",
                                      "tex",
                                      "tld4",
                                      "suld",
                                      "sust",
                                      "sured",
                                      "call",
                                      "wmma",
                                      "multimem",
                                      "prefetch",
                                      "mbarrier",
                                      "fabric",
                                      "tensormap",
                                      "applypriority",
                                      "discard",
                                      "cachepolicy",
                                      "tcgen05",
                                      "clusterlaunchcontrol"};
  size_t At = 0;
  while (At < Assembly.size()) {
    if (!isAlpha(Assembly[At])) {
      // Registers, operands and labels are no instructions.
      bool Skip = Assembly[At] == '%' || Assembly[At] == '$' ||
                  Assembly[At] == '_' || Assembly[At] == '.';
      ++At;
      while (
          Skip && At < Assembly.size() &&
          (isAlnum(Assembly[At]) || Assembly[At] == '_' || Assembly[At] == '.'))
        ++At;
      continue;
    }
    size_t End = At;
    while (End < Assembly.size() &&
           (isAlnum(Assembly[End]) || Assembly[End] == '_'))
      ++End;
    StringRef Word = Assembly.slice(At, End);
    for (const char *W : Words)
      if (Word == W)
        return true;
    // Modifiers belong to the instruction.
    while (End < Assembly.size() &&
           (isAlnum(Assembly[End]) || Assembly[End] == '_' ||
            Assembly[End] == '.' || Assembly[End] == ':'))
      ++End;
    At = End;
  }
  return false;
}

namespace {

/// ld.global.nc.v4.f32: the parts of a name.
struct PtxInstruction {
  uint8_t Kinds = 0; ///< AccessFlags; 0: none of ours
  bool OtherSpace = false;
  uint64_t Width = 0;
};

PtxInstruction decode(StringRef Name) {
  SmallVector<StringRef, 8> Parts;
  Name.split(Parts, '.', -1, /*KeepEmpty=*/false);
  PtxInstruction I;
  I.Kinds = StringSwitch<uint8_t>(Parts[0])
                .Cases({"ld", "ldu"}, AccessRead)
                .Case("st", AccessWrite)
                .Cases({"atom", "red"}, AccessRead | AccessWrite | AccessAtomic)
                .Default(0);
  uint64_t Lanes = 1;
  for (StringRef Part : drop_begin(Parts)) {
    if (Part.starts_with("shared") || Part.starts_with("local") ||
        Part.starts_with("const") || Part.starts_with("param"))
      I.OtherSpace = true;
    uint64_t N;
    if (Part.consume_front("v") && !Part.getAsInteger(10, N))
      Lanes = N;
  }
  // The type stands last.
  StringRef Type = Parts.back();
  uint64_t Scale = Type.consume_back("x2") ? 2 : 1;
  if (!Type.consume_front("bf"))
    Type = Type.drop_front();
  uint64_t Bits;
  if (!Type.getAsInteger(10, Bits) && Bits % 8 == 0)
    I.Width = Bits / 8 * Scale * Lanes;
  return I;
}

/// Waits, groups and arithmetic are named as what touches memory is, without an
/// address: cp.async.wait_all, wmma.mma.
bool hasAddress(StringRef Statement) {
  return Statement.contains('[') || Statement.contains("call");
}

/// cp.async.cg.shared.global [$0], [$1], 16: the reading half.
bool decodeCopy(StringRef Statement, StringRef Name, PtxInstruction &I) {
  if (!Name.starts_with("cp.async.ca.shared") &&
      !Name.starts_with("cp.async.cg.shared"))
    return false;
  SmallVector<StringRef, 4> Operands;
  Statement.split(Operands, ',');
  if (Operands.size() < 3 || Operands[2].trim().getAsInteger(10, I.Width))
    return false;
  I.Kinds = AccessRead;
  I.OtherSpace = false;
  return true;
}

/// [$2], [ $2 + 16 ].
bool decodeAddress(StringRef Text, unsigned &Operand, int64_t &Offset) {
  size_t Open = Text.find('['), Close = Text.find(']');
  if (Open == StringRef::npos || Close == StringRef::npos || Close < Open ||
      Text.find('[', Open + 1) != StringRef::npos)
    return false;
  StringRef Inner = Text.slice(Open + 1, Close).trim();
  if (!Inner.consume_front("$") || Inner.consumeInteger(10, Operand))
    return false;
  Inner = Inner.trim();
  Offset = 0;
  if (Inner.empty())
    return true;
  return Inner.consume_front("+") && !Inner.trim().getAsInteger(0, Offset);
}

/// The argument of the call that is operand $Operand.
Value *argumentOf(CallBase &Call, const InlineAsm::ConstraintInfoVector &All,
                  unsigned Operand) {
  unsigned Index = 0;
  for (unsigned I = 0; I < All.size(); ++I) {
    bool HasArgument = All[I].hasArg();
    if (I == Operand)
      return HasArgument ? Call.getArgOperand(Index) : nullptr;
    Index += HasArgument;
  }
  return nullptr;
}

} // namespace

std::optional<SmallVector<AssemblyAccess, 2>>
accessesOfAssembly(CallBase &Call) {
  auto *Assembly = cast<InlineAsm>(Call.getCalledOperand());
  InlineAsm::ConstraintInfoVector Constraints = Assembly->ParseConstraints();
  for (const InlineAsm::ConstraintInfo &C : Constraints)
    if (C.isIndirect)
      return std::nullopt;
  // Braces are blocks, or vectors of registers.
  std::string Text;
  for (char C : Assembly->getAsmString())
    Text += C == '\n' || C == '\t' ? ' ' : C;
  SmallVector<AssemblyAccess, 2> Accesses;
  SmallVector<StringRef, 8> Statements;
  StringRef(Text).split(Statements, ';');
  for (StringRef Statement : Statements) {
    Statement = Statement.ltrim(" {}").rtrim();
    if (!touchesMemory(Statement) || !hasAddress(Statement))
      continue;
    StringRef Name = Statement.take_while(
        [](char C) { return isAlnum(C) || C == '_' || C == '.' || C == ':'; });
    if (Name.empty())
      return std::nullopt;
    PtxInstruction I = decode(Name);
    if (decodeCopy(Statement, Name, I))
      Statement = Statement.split(',').second;
    AssemblyAccess A{nullptr, 0, I.Width, I.Kinds};
    if (!I.Kinds || Name.contains("::cluster"))
      return std::nullopt;
    if (I.OtherSpace)
      continue;
    unsigned Operand;
    if (!I.Width || !decodeAddress(Statement, Operand, A.Offset))
      return std::nullopt;
    A.Address = argumentOf(Call, Constraints, Operand);
    if (!A.Address || !(A.Address->getType()->isPointerTy() ||
                        A.Address->getType()->isIntegerTy(64)))
      return std::nullopt;
    Accesses.push_back(A);
  }
  return Accesses;
}

} // namespace dragon
