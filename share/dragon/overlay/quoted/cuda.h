//===- cuda.h - whose header that is ----------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clang's wrapper of the toolkit's headers begins with `#include "cuda.h"`, and
// would take a program's own header of that name, which nvcc never reads unless
// the program asks for it. This folder is searched before the program's
// (-iquote). The first to ask is the wrapper: it gets the toolkit's, by a name
// that no other folder has. All others get what they would have got.
//
// Nor does nvcc mind what this header and the wrapper call their parameters:
// `-DN=2048` replaces none of them. dragon-nvcc.h brings the macros back.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_OVERLAY_QUOTED_CUDA_H
#define DRAGON_OVERLAY_QUOTED_CUDA_H
#pragma push_macro("C")
#undef C
#pragma push_macro("N")
#undef N
#pragma push_macro("T")
#undef T
#pragma push_macro("Width")
#undef Width
#pragma push_macro("Height")
#undef Height
#pragma push_macro("Flags")
#undef Flags
#pragma push_macro("Pitch")
#undef Pitch
#pragma push_macro("ByteCount")
#undef ByteCount
#pragma push_macro("WidthInBytes")
#undef WidthInBytes
#include <crt/../cuda.h>
// In front of clang's own device functions.
#include <dragon-nvcc/exchanges.h>
#else
#include_next "cuda.h"
#endif
