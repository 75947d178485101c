//===- Sarif.h - remarks as SARIF, for editors and reviews ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --dragon-diagnostics=sarif: what the steps wrote into their optimisation
// records, as one document of SARIF 2.1.0. The rules are the remarks of
// Remarks.def, a missed remark is a warning, others are notes. A file that is
// compiled for several sides or GPUs has each remark once.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_SARIF_H
#define DRAGON_TOOLS_DRAGON_CC_SARIF_H

#include "tools/dragon-cc/Steps.h"

namespace dragon::driver {

/// Writes the document to where `Plan` says, of the records that its steps have
/// written.
llvm::Error writeSarif(const Plan &Plan);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_SARIF_H
