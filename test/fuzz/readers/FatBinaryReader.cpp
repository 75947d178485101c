//===- FatBinaryReader.cpp - the GPU code that a program carries ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "runtime/cudart/modules/FatBinary.h"

DRAGON_READER("fat-binary") { dragon::newestArchitecture(data, bytes); }
