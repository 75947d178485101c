//===- PageLegality.h - which kernels may fetch pages -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has no copy that fetches pages if somebody else accesses memory for
// it: functions whose code is elsewhere, calls through pointers, inline
// assembly that may access memory, textures, intrinsics that access memory by
// addresses; or if an access may cross the border of a page.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PAGING_PAGELEGALITY_H
#define DRAGON_PASSES_PAGING_PAGELEGALITY_H

#include <cstdint>
#include <string>

namespace llvm {
class Function;
class Instruction;
class Use;
} // namespace llvm

namespace dragon {

/// Pages have at least so many bytes.
constexpr uint64_t SmallestPage = 4096;
/// What the parameters of a copy take behind the kernel's, with their
/// alignment.
constexpr uint64_t PageParameterBytes = 64;

/// Why the kernel can have no copy, for people; empty: it can.
std::string whyNotPaged(llvm::Function &Kernel);

/// An access that can be told to go to another address: all of it in one page.
struct MovableAccess {
  llvm::Use *Pointer = nullptr;
  bool Writes = false;
};

/// Of loads, stores and atomic operations; null pointer: none of these.
MovableAccess movable(llvm::Instruction &I);

} // namespace dragon

#endif // DRAGON_PASSES_PAGING_PAGELEGALITY_H
