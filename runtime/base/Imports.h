//===- Imports.h - what a loaded object takes from others -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program never names it does not call, unless it looks functions up at
// run time (dlsym). Source: the ELF specification, "Symbol Table" and "Hash
// Table"; dl_iterate_phdr(3).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_IMPORTS_H
#define DRAGON_RUNTIME_BASE_IMPORTS_H

#include <functional>
#include <link.h>
#include <string_view>

namespace dragon {

/// True if `which` is, of the name of one undefined symbol of the object.
bool importsAny(const dl_phdr_info &object,
                const std::function<bool(std::string_view)> &which);
/// Of the executable.
bool programImportsAny(const std::function<bool(std::string_view)> &which);

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_IMPORTS_H
