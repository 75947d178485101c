//===- LoadedData.h - values that are made of loaded data -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index that memory takes part in makes an access indirect, however long the
// way from the load to the index is: through arithmetic, conversions, calls of
// mathematical functions and choices.
//
//   int bin = int(sqrtf(x[i]) * scale);  ++histogram[bin];
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_LOADEDDATA_H
#define DRAGON_PASSES_ACCESS_LOADEDDATA_H

namespace llvm {
class Value;
} // namespace llvm

namespace dragon {

/// Whether V is computed from something that memory held (other than a kernel's
/// arguments). What only decided which way the thread went does not count.
bool dependsOnMemory(const llvm::Value &V);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_LOADEDDATA_H
