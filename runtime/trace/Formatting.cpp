//===- Formatting.cpp - fmt's functions, compiled once --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// {fmt} is used without its library, which programs would need to run. As
// headers alone it would be compiled with each file that formats, which took
// half of the time of most: so it is that here, and only here.
//
//===----------------------------------------------------------------------===//

#define FMT_HEADER_ONLY
#include <fmt/format.h>

namespace {

// Their addresses are taken, so they are there for the linker.
[[gnu::used]] std::string (*const Format)(fmt::string_view,
                                          fmt::format_args) = &fmt::vformat;
[[gnu::used]] void (*const Print)(std::FILE *, fmt::string_view,
                                  fmt::format_args) = &fmt::vprint;

} // namespace
