//===- PtxReader.cpp - inline assembly for the host processor -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of an asm statement with two results and three operands becomes code
// for the host, or is refused by name. What was made must be valid.
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "passes/cpu/InlinePtx.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;

DRAGON_READER("ptx") {
  LLVMContext Context;
  Context.setDiagnosticHandlerCallBack([](const DiagnosticInfo *, void *) {});
  Module M("ptx", Context);
  IRBuilder<> B(Context);
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  auto *Result = StructType::get(I32, I64);
  auto *Kernel = Function::Create(
      FunctionType::get(B.getVoidTy(), {I32, B.getPtrTy(), B.getFloatTy()},
                        false),
      GlobalValue::ExternalLinkage, "kernel", M);
  B.SetInsertPoint(BasicBlock::Create(Context, "entry", Kernel));
  auto *Type =
      FunctionType::get(Result, {I32, B.getPtrTy(), B.getFloatTy()}, false);
  StringRef Text(reinterpret_cast<const char *>(data), bytes);
  B.CreateCall(Type,
               InlineAsm::get(Type, Text, "=r,=l,r,l,f", /*SideEffects=*/true),
               {Kernel->getArg(0), Kernel->getArg(1), Kernel->getArg(2)});
  B.CreateRetVoid();
  dragon::Unsupported Refused(M, dragon::UnsupportedAs::Remark);
  dragon::lowerInlinePtx(M, Refused);
  if (verifyModule(M, &errs()))
    std::abort();
}
