//===- Arithmetic.h - PTX arithmetic in IR ----------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX's arithmetic instructions as IR for the host, for the intrinsics
// (llvm.nvvm.*) and for inline assembly alike. All functions take scalars or
// vectors. Results are those of PTX where it defines them: conversions
// saturate, shifts clamp (IntegerArithmetic.h), NaN behaves as there. Flushing
// of denormals (.ftz) is not imitated, and approximate instructions are exact.
//
// half is computed in float and rounded once; a fused multiply-add in half and
// bfloat goes through a sum rounded to odd, so that it is rounded once as well
// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_ARITHMETIC_H
#define DRAGON_PASSES_CPU_ARITHMETIC_H

#include "passes/cpu/IntegerArithmetic.h"

namespace dragon {

/// The values are what the runtime's dragon_cpu_math_* functions take.
enum class Rounding { Nearest = 0, Zero = 1, Down = 2, Up = 3 };

/// Modifiers of floating-point instructions.
struct FloatFlags {
  Rounding Round = Rounding::Nearest;
  bool Saturate = false; ///< to [0, 1], NaN to 0
  bool Relu = false;     ///< negative and NaN to 0
  bool PropagateNan = false;
  bool Absolute = false; ///< min, max: of the absolute values
  bool XorSign = false;  ///< with the product's sign
};

/// Floating-point instructions, and with those of its base all others.
class Arithmetic : public IntegerArithmetic {
public:
  using IntegerArithmetic::IntegerArithmetic;

  // -- Floating point
  llvm::Value *add(llvm::Value *X, llvm::Value *Y, FloatFlags Flags = {});
  llvm::Value *sub(llvm::Value *X, llvm::Value *Y, FloatFlags Flags = {});
  llvm::Value *mul(llvm::Value *X, llvm::Value *Y, FloatFlags Flags = {});
  llvm::Value *div(llvm::Value *X, llvm::Value *Y, FloatFlags Flags = {});
  llvm::Value *fma(llvm::Value *X, llvm::Value *Y, llvm::Value *Z,
                   FloatFlags Flags = {});
  llvm::Value *sqrt(llvm::Value *X, FloatFlags Flags = {});
  llvm::Value *reciprocal(llvm::Value *X, FloatFlags Flags = {});
  llvm::Value *reciprocalSqrt(llvm::Value *X);
  llvm::Value *minOrMax(bool Max, llvm::Value *X, llvm::Value *Y,
                        FloatFlags Flags = {});
  llvm::Value *negate(llvm::Value *X);
  llvm::Value *absolute(llvm::Value *X);
  llvm::Value *saturate(llvm::Value *X);
  /// An intrinsic of one operand, in float for the narrow types.
  llvm::Value *unary(llvm::Intrinsic::ID ID, llvm::Value *X);
  /// To an integral value of the same type.
  llvm::Value *roundToIntegral(llvm::Value *X, Rounding Round);

  // -- Conversions
  llvm::Value *floatToInt(llvm::Value *X, unsigned Bits, bool Signed,
                          Rounding Round);
  llvm::Value *intToFloat(llvm::Value *X, bool Signed, llvm::Type *To,
                          Rounding Round);
  llvm::Value *floatToFloat(llvm::Value *X, llvm::Type *To, Rounding Round);

private:
  llvm::Value *constant(llvm::Type *Type, double V);
  llvm::Value *finish(llvm::Value *X, const FloatFlags &Flags);
  bool isNarrow(llvm::Value *X);
  llvm::Value *widen(llvm::Value *X);
  llvm::Value *narrow(llvm::Value *X, llvm::Type *To);
  llvm::Value *toBfloat(llvm::Value *X, llvm::Type *To, Rounding Round);
  llvm::Value *roundToOdd(llvm::Value *Sum, llvm::Value *Error);
  llvm::Value *directedFloat(llvm::Value *Sum, llvm::Value *Error,
                             Rounding Round);
  std::pair<llvm::Value *, llvm::Value *> twoSum(llvm::Value *X,
                                                 llvm::Value *Y);
  llvm::Value *directedOperation(llvm::StringRef Operation,
                                 llvm::ArrayRef<llvm::Value *> Operands,
                                 Rounding Round);
  llvm::Value *directed(llvm::StringRef Operation,
                        llvm::ArrayRef<llvm::Value *> Operands, llvm::Type *To,
                        Rounding Round);
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_ARITHMETIC_H
