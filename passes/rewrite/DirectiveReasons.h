//===- DirectiveReasons.h - why a call of the runtime is made ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names and places of remarks, in constants that the runtime is given where
// it may have to say who was wrong (strict mode).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_DIRECTIVEREASONS_H
#define DRAGON_PASSES_REWRITE_DIRECTIVEREASONS_H

#include "passes/lifetime/BufferProgramBuilder.h"
#include "passes/placement/Directive.h"

namespace llvm {
class Constant;
} // namespace llvm

namespace dragon {

class DirectiveReasons {
public:
  /// Wanted: else nothing is told.
  DirectiveReasons(llvm::Function &F, const BuiltProgram &Built,
                   const Placement &Decisions, bool Wanted)
      : F(F), Built(Built), Decisions(Decisions), Wanted(Wanted) {}

  /// Of the directive that is lowered in front of the point next.
  void tell(const Directive &D, llvm::Instruction &Point) const;
  /// Of a transfer that leaves the bytes of a staging buffer where they are.
  void tellElision(unsigned Staging, const Event &E,
                   llvm::CallBase &Call) const;
  /// Of a staging buffer that nobody needs any more.
  void tellEnd(const Directive &D, llvm::Instruction &Point) const;
  /// The buffer's name and place: the address of a dragon_source.
  llvm::Constant *sourceOf(const Buffer &B) const;

private:
  void tell(RemarkId Id, llvm::StringRef Buffer, const Position &Where,
            llvm::Instruction &Point) const;
  llvm::Constant *string(llvm::StringRef Text) const;
  llvm::Constant *source(llvm::StringRef Buffer, const Position &Where) const;
  llvm::Constant *constant(llvm::Constant *Row, const llvm::Twine &Name) const;

  llvm::Function &F;
  const BuiltProgram &Built;
  const Placement &Decisions;
  const bool Wanted;
};

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_DIRECTIVEREASONS_H
