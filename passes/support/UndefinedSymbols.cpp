//===- UndefinedSymbols.cpp - device code that is elsewhere ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/UndefinedSymbols.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace dragon {

namespace {

const Instruction *firstUseOf(const Value &Of) {
  for (const User *U : Of.users()) {
    if (const auto *I = dyn_cast<Instruction>(U))
      return I;
    if (isa<ConstantExpr>(U))
      if (const Instruction *I = firstUseOf(*U))
        return I;
  }
  return nullptr;
}

/// Dynamic shared memory is a declaration, too.
bool isElsewhere(const GlobalVariable &Variable) {
  const unsigned Space = Variable.getAddressSpace();
  return Variable.isDeclaration() && !isBuiltinVariable(Variable) &&
         (Space == NVPTXAS::ADDRESS_SPACE_GLOBAL ||
          Space == NVPTXAS::ADDRESS_SPACE_CONST);
}

/// Names of LLVM's are intrinsics, also those that this LLVM does not have.
bool isElsewhere(const Function &F) {
  StringRef Name = F.getName();
  return F.isDeclaration() && !Name.starts_with("llvm.") &&
         !Name.starts_with("__nv_") && !isProvidedToDevices(Name);
}

template <class Range> bool report(const Range &Symbols, StringRef Does) {
  bool Any = false;
  for (const auto &Symbol : Symbols) {
    const Instruction *I = isElsewhere(Symbol) ? firstUseOf(Symbol) : nullptr;
    if (!I)
      continue;
    Any = true;
    Symbol.getContext().diagnose(DiagnosticInfoUnsupported(
        *I->getFunction(),
        "'" + demangle(Symbol.getName()) + "' is " + Does +
            " here, and this file does not define it; if another one does, "
            "compile both with -dc (-rdc=true), and link with dragon-cc",
        I->getDebugLoc()));
  }
  return Any;
}

} // namespace

bool reportUndefinedSymbols(Module &M) {
  const bool Functions = report(M.functions(), "called");
  return report(M.globals(), "used") || Functions;
}

} // namespace dragon
