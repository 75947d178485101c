//===- DirectiveReasons.cpp - why a call of the runtime is made -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/DirectiveReasons.h"

#include "passes/rewrite/EntryPoints.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

Constant *DirectiveReasons::string(StringRef Text) const {
  return stringConstant(*F.getParent(), Text);
}

Constant *DirectiveReasons::source(StringRef Buffer,
                                   const Position &Where) const {
  Type *I32 = Type::getInt32Ty(F.getContext());
  return ConstantStruct::getAnon({string(Buffer), string(Where.File),
                                  ConstantInt::get(I32, Where.Line),
                                  ConstantInt::get(I32, Where.Column)});
}

Constant *DirectiveReasons::constant(Constant *Row, const Twine &Name) const {
  return new GlobalVariable(*F.getParent(), Row->getType(), true,
                            GlobalValue::PrivateLinkage, Row, Name);
}

Constant *DirectiveReasons::sourceOf(const Buffer &B) const {
  return constant(source(B.Name, B.Where), "dragon.where");
}

void DirectiveReasons::tell(RemarkId Id, StringRef Buffer,
                            const Position &Where, Instruction &Point) const {
  if (!Wanted)
    return;
  Constant *Row =
      ConstantStruct::getAnon({string(remarkName(Id)), source(Buffer, Where)});
  callEntry("__dragon_because", {constant(Row, "dragon.reason")}, Point);
}

void DirectiveReasons::tell(const Directive &D, Instruction &Point) const {
  if (D.Finding < 0)
    return;
  const Finding &Found = Decisions.Findings[static_cast<size_t>(D.Finding)];
  tell(Found.Why.Id, Found.Why.get("Buffer"), Found.Where, Point);
}

void DirectiveReasons::tellElision(unsigned Staging, const Event &E,
                                   CallBase &Call) const {
  tell(E.is<FileReadEvent>() ? RemarkId::StagingElidedIn
                             : RemarkId::StagingElidedOut,
       Built.Program.Buffers[Staging].Name, E.Where, Call);
}

void DirectiveReasons::tellEnd(const Directive &D, Instruction &Point) const {
  const bool In = any_of(Built.Program.uses(D.Buffer), [&](EventRef At) {
    return Built.Program.event(At).is<FileReadEvent>();
  });
  const Buffer &Of = Built.Program.Buffers[D.Buffer];
  const bool AtEvent = D.Where == Anchor::Before || D.Where == Anchor::After;
  tell(In ? RemarkId::StagingElidedIn : RemarkId::StagingElidedOut, Of.Name,
       AtEvent ? Built.Program.event(D.At).Where : Of.Where, Point);
}

} // namespace dragon
