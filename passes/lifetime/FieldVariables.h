//===- FieldVariables.h - a variable for each field ------------ -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs keep their buffers in structures, and arrays of these:
//
//   struct Layer { float *weights, *output; };
//   struct Network { int batch; float *images; Layer layer[64]; } net;
//
// An index that is not known keeps all of `net` in memory, and a pointer into
// it may be one to any field. So such a structure is taken apart, as SROA does
// with those that have no such index: `batch` and `images` become variables,
// which SROA makes registers, and each field of the array's elements becomes an
// array of its own, `weights[64]` and `output[64]`. That an index stays within
// its array is a rule of the language.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_FIELDVARIABLES_H
#define DRAGON_PASSES_LIFETIME_FIELDVARIABLES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace llvm {
class Function;
class StructType;
} // namespace llvm

namespace dragon {

/// What the user calls the field of that number.
using FieldNames =
    llvm::function_ref<std::string(const llvm::StructType &, unsigned)>;

/// Takes local structures with pointers in arrays apart. Returns whether there
/// were any.
bool separateFields(llvm::Function &F, FieldNames Name);

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_FIELDVARIABLES_H
