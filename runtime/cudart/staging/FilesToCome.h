//===- FilesToCome.h - files that the program is yet to make ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results may have to leave the device before the program makes the file that
// it will write them to. They go to a file without a name on the same file
// system then (O_TMPFILE), which gets the name when the program makes the file:
// nobody sees it before, and if the program ends first, it is gone.
//
// It gets the name only if no file has it by then, and if its owner and mode
// are those that a new file would have now. Else the program's call does what
// it always does, and the contents are copied when the program writes them.
//
// Sources: open(2) on O_TMPFILE, linkat(2).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_STAGING_FILESTOCOME_H
#define DRAGON_RUNTIME_CUDART_STAGING_FILESTOCOME_H

#include "runtime/tier/FileTier.h"

#include <cstdio>
#include <memory>

namespace dragon::filesToCome {

/// What becomes the file at the path, as long as somebody refers to it; null if
/// there is such a file, or none can be made ahead. The pointer may be any:
/// what is no path is refused.
std::shared_ptr<BackingFile> announce(const char *path);

/// Makes an announced file, as fopen(path, mode) would. Null, without an
/// effect: that is for fopen() to do. Keeps errno.
FILE *make(const char *path, const char *mode);

} // namespace dragon::filesToCome

#endif // DRAGON_RUNTIME_CUDART_STAGING_FILESTOCOME_H
