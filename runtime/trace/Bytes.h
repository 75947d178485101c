//===- Bytes.h - sizes as people write them ---------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TRACE_BYTES_H
#define DRAGON_RUNTIME_TRACE_BYTES_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dragon {

/// "1.5 GiB", "64 MiB", "12 B": exact where it can be, else one digit.
std::string formatBytes(uint64_t bytes);

/// "64M", "1G", "4096": digits and an optional K, M, G or T (powers of 1024),
/// nothing else. Empty if it is something else or does not fit.
std::optional<uint64_t> parseBytes(std::string_view text);

} // namespace dragon

#endif // DRAGON_RUNTIME_TRACE_BYTES_H
