//===- HeaderEdits.h - lines of NVIDIA's headers for clang ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A few programs need another line in a header of the toolkit, because clang
// and nvcc read what is there differently:
//
// * `h = {}` for a half2 is ambiguous to clang, between half2 and its raw form.
//   nvcc takes half2. So does clang if the other assignment is a template.
//
// * `__shared__ cuda::barrier<...> b;` is an error to clang because destroying
//   one does something; nvcc never destroys variables in shared memory. The
//   destructor becomes trivial, and what called it for its effect calls that.
//   Programs that call it themselves get the header as it is.
//
// They are compiled with copies. A header in which the lines are not found is
// left alone.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_HEADEREDITS_H
#define DRAGON_TOOLS_DRAGON_CC_HEADEREDITS_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <utility>
#include <vector>

namespace dragon::driver {

/// Headers below the toolkit's folder `Include` that `File` is compiled with
/// copies of: each with its text.
std::vector<std::pair<std::string, std::string>>
editedHeaders(llvm::StringRef Include, llvm::StringRef File,
              const std::vector<std::string> &Folders);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_HEADEREDITS_H
