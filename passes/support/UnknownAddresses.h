//===- UnknownAddresses.h - addresses that are data -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_UNKNOWNADDRESSES_H
#define DRAGON_PASSES_SUPPORT_UNKNOWNADDRESSES_H

#include "dragon/SummaryBuilder.h"

#include <string>

namespace dragon {

/// Why the summary does not say which parts of its buffers the kernel accesses,
/// for people: "where in 'in' it does is data"; empty: it says so. What threads
/// compute as random numbers are is said, and of no use: that is "anywhere".
std::string whyAddressesUnknown(const KernelSummary &Kernel,
                                const ExprPool &Exprs);

/// The same of one access.
bool isAddressUnknown(const AccessSummary &Access, const ExprPool &Exprs);

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_UNKNOWNADDRESSES_H
