//===- PageCode.h - the code that finds and fetches pages -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is made of passes/paging/device when the project is built.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PAGING_PAGECODE_H
#define DRAGON_PASSES_PAGING_PAGECODE_H

namespace dragon {

/// LLVM IR as text.
extern const char *const GpuPageCode;  ///< sm_70 and later
extern const char *const BulkPageCode; ///< sm_90 and later
extern const char *const CpuPageCode;

} // namespace dragon

#endif // DRAGON_PASSES_PAGING_PAGECODE_H
