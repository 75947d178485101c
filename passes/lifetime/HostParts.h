//===- HostParts.h - which bytes of a buffer the host looks at --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for (long i = r1; i <= r2; ++i)
//     for (long j = c1; j <= c2; ++j)
//       sum += h[i * columns + j];
//
// reads no bytes but those from the first one's to the last one's: the address
// is affine in the loops' counters, and each counter has a last value. The part
// is computed in front of the outermost loop.
//
// Source: the access regions of "Interprocedural Array Region Analyses"
// (Creusillet, Irigoin, LCPC 1995), of one reference and as an interval.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_HOSTPARTS_H
#define DRAGON_PASSES_LIFETIME_HOSTPARTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace llvm {
class Instruction;
class Loop;
class SCEV;
class ScalarEvolution;
class Value;
} // namespace llvm

namespace dragon {

/// The bytes from an address on, for each step of some loops that many bytes
/// further.
struct HostPart {
  const llvm::SCEV *Start; ///< a pointer
  struct Walk {
    const llvm::SCEV *Step; ///< an i64, in bytes
    const llvm::SCEV *Last; ///< an i64: steps up to the last one
  };
  llvm::SmallVector<Walk, 2> Walks;
  uint64_t Bytes; ///< of one access
};

/// What the access touches in all iterations of the loops, innermost first,
/// that lie around it; nothing if that is not known.
std::optional<HostPart> hostPart(const llvm::Instruction &Access,
                                 const llvm::Value &Pointer,
                                 llvm::ArrayRef<const llvm::Loop *> Loops,
                                 llvm::ScalarEvolution &Evolution);
/// It can be computed in front of the instruction.
bool canCompute(const HostPart &Part, const llvm::Instruction &Point,
                llvm::ScalarEvolution &Evolution);
/// It surely is as long as this, an i64.
bool hasBytes(const HostPart &Part, const llvm::SCEV &Bytes,
              llvm::ScalarEvolution &Evolution);

/// An address and a number of bytes, computed in front of the instruction: of
/// the part that is within the buffer, and all of the buffer if the numbers
/// exceed 63 bits.
struct HostRange {
  llvm::Value *Address, *Bytes;
};
HostRange emitHostPart(const HostPart &Part, const HostRange &Buffer,
                       llvm::Instruction &Point,
                       llvm::ScalarEvolution &Evolution);

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_HOSTPARTS_H
