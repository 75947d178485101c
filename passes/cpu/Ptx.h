//===- Ptx.h - inline PTX, parsed -------------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of an `asm` statement as data: instructions, labels and the
// registers it declares, with names resolved to numbers (a nested `{ }` hides
// outer names). Operands of the statement ($0, $1, ...) are registers like
// others. Example:
//
//   {.reg .pred p; setp.ne.u32 p, $1, 0; @p add.u32 $0, $0, 1;}
//
// Source: PTX ISA, "Syntax".
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_PTX_H
#define DRAGON_PASSES_CPU_PTX_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dragon {

/// The type at the end of an instruction: u32, f16x2, pred, ...
struct PtxType {
  enum Class { Unsigned, Signed, Bits, Float, BFloat, Predicate };
  Class Kind = Bits;
  unsigned Width = 0; ///< of one lane, in bits; 1 for predicates
  unsigned Lanes = 1;

  bool isFloat() const { return Kind == Float || Kind == BFloat; }
  bool isSigned() const { return Kind == Signed; }
  unsigned totalWidth() const { return Width * Lanes; }
  /// False if Name is no type.
  static bool parse(llvm::StringRef Name, PtxType &Out);
};

struct PtxOperand;

/// Operands by number. One that the text lacks is a label, which no instruction
/// but a branch understands.
class PtxOperands : public std::vector<PtxOperand> {
public:
  const PtxOperand &operator[](size_t Number) const;
};

struct PtxOperand {
  enum Class {
    Register,  ///< Number
    Statement, ///< operand Number of the statement
    Integer,   ///< Bits, two's complement
    Float32,   ///< Bits
    Float64,   ///< Bits
    Special,   ///< Name, without the percent sign
    Vector,    ///< Parts: {a, b}, or a|b
    Address,   ///< [Parts[0] + Bits]
    Label,     ///< Number
    Sink       ///< _
  };
  Class Kind = Sink;
  unsigned Number = 0;
  uint64_t Bits = 0;
  bool Negated = false; ///< !p
  std::string Name;
  PtxOperands Parts;
};

struct PtxInstruction {
  std::string Text;                                ///< for messages
  llvm::SmallVector<llvm::StringRef, 6> Modifiers; ///< of the opcode, types too
  PtxOperands Operands;
  int Guard = -1; ///< the predicate register that it depends on
  bool GuardNegated = false;
  int Label = -1; ///< >= 0: no instruction, but this label

  llvm::StringRef opcode() const {
    return Modifiers.empty() ? llvm::StringRef() : Modifiers[0];
  }
  bool has(llvm::StringRef Modifier) const;
  /// The types among the modifiers, in order.
  llvm::SmallVector<PtxType, 3> types() const;
};

struct PtxProgram {
  std::string Text; ///< the names above point into it
  std::vector<PtxInstruction> Instructions;
  std::vector<PtxType> Registers; ///< by number
  unsigned NumLabels = 0;
};

/// The error names what was not understood.
llvm::Error parsePtx(llvm::StringRef Asm, PtxProgram &Out);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_PTX_H
