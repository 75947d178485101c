//===- LoadedAccess.h - bytes of an access with loaded indices --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes of one access for a box of blocks, where numbers that it loads may
// be known (LoadedCases.h).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_LOADEDACCESS_H
#define DRAGON_DETAIL_LOADEDACCESS_H

#include "dragon/FootprintEval.h"
#include "dragon/detail/EvalInput.h"
#include "dragon/detail/StridedSet.h"

namespace dragon {
namespace detail {

AccessBytes evaluateAccess(const EvalInput &In, const AccessRecord &A,
                           const EvalLimits &Limits);

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_LOADEDACCESS_H
