//===- Presburger.h - systems as sets of MLIR's library ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A LinearSystem and a form over it as a set of MLIR's Presburger library, and
// ranges of bytes as another: what the tests compare with, and what the
// benchmark measures against.
//
// All sets have one dimension, the byte's address. The system's variables are
// locals, which means "there is an integer such that". Opaque variables are
// locals as well: of a quotient, its two soft constraints leave one value.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_SETS_PRESBURGER_H
#define DRAGON_TEST_SETS_PRESBURGER_H

#include "dragon/detail/Refinement.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/PresburgerRelation.h"

#include <vector>

namespace dragon::sets {

using mlir::presburger::BoundType;
using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::PresburgerSet;
using mlir::presburger::PresburgerSpace;

/// Sign * Form as a row of coefficients: address, variables, constant.
inline std::vector<int64_t> rowOf(const detail::Linear &Form, int64_t Sign,
                                  size_t Variables) {
  std::vector<int64_t> Row(Variables + 2);
  for (const detail::Linear::Term &T : Form)
    Row[T.Var + 1] = Sign * T.Coefficient;
  Row.back() = Sign * Form.C;
  return Row;
}

/// The bytes [Form, Form + Width) of all points of \p System.
inline IntegerPolyhedron addressesOf(const detail::LinearSystem &System,
                                     const detail::Linear &Form,
                                     int64_t Width) {
  const size_t Variables = System.Vars.size();
  IntegerPolyhedron Set(
      PresburgerSpace::getSetSpace(1, 0, unsigned(Variables)));
  for (unsigned V = 0; V < Variables; ++V) {
    const detail::Interval &Range = System.Vars[V].Range;
    if (detail::isFinite(Range.Lo))
      Set.addBound(BoundType::LB, V + 1, int64_t(Range.Lo));
    if (detail::isFinite(Range.Hi))
      Set.addBound(BoundType::UB, V + 1, int64_t(Range.Hi));
  }
  for (const detail::Constraint &K : System.Constraints)
    Set.addInequality(rowOf(K.Form, 1, Variables));
  // Form <= address <= Form + Width - 1.
  std::vector<int64_t> First = rowOf(Form, -1, Variables);
  std::vector<int64_t> Last = rowOf(Form, 1, Variables);
  First[0] = 1;
  Last[0] = -1;
  Last.back() += Width - 1;
  if (Width == 1) {
    Set.addEquality(First);
  } else {
    Set.addInequality(First);
    Set.addInequality(Last);
  }
  return Set;
}

/// The addresses [Begin, End).
inline IntegerPolyhedron addressesOf(ByteRange Range) {
  IntegerPolyhedron Set(PresburgerSpace::getSetSpace(1));
  Set.addBound(BoundType::LB, 0, Range.Begin);
  Set.addBound(BoundType::UB, 0, Range.End - 1);
  return Set;
}

inline PresburgerSet addressesOf(const ByteSet &Bytes) {
  if (Bytes.Everything)
    return PresburgerSet::getUniverse(PresburgerSpace::getSetSpace(1));
  PresburgerSet Set = PresburgerSet::getEmpty(PresburgerSpace::getSetSpace(1));
  for (const ByteRange &Range : Bytes.Ranges)
    Set.unionInPlace(addressesOf(Range));
  return Set;
}

} // namespace dragon::sets

#endif // DRAGON_TEST_SETS_PRESBURGER_H
