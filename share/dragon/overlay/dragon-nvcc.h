//===- dragon-nvcc.h - what nvcc gives every CUDA source --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// dragon-cc includes this in front of every CUDA source. Clang has by then
// included its own wrapper of the toolkit's headers, which is a smaller world
// than nvcc's: programs written for nvcc lean on macros, on standard headers
// that come by themselves and on overloads in the global namespace that it
// does not have. They are added here, each part in a file of its own.
//
// The folder that this file is in is the first of the system folders. What
// stands beside this file under the name of a toolkit header goes in front of
// it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_H
#define DRAGON_NVCC_H

// What nvcc includes by itself.
#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utility>

#include "dragon-nvcc/macros.h"

#include "dragon-nvcc/atomics.h"
#include "dragon-nvcc/caches.h"
#include "dragon-nvcc/math.h"
#include "dragon-nvcc/minmax.h"
#include "dragon-nvcc/simd.h"

#ifdef DRAGON_TEXTURE_REFERENCES
#include "dragon-nvcc/textures.h"
#endif

// See quoted/cuda.h.
#ifdef DRAGON_OVERLAY_QUOTED_CUDA_H
#pragma pop_macro("C")
#pragma pop_macro("N")
#pragma pop_macro("T")
#pragma pop_macro("Width")
#pragma pop_macro("Height")
#pragma pop_macro("Flags")
#pragma pop_macro("Pitch")
#pragma pop_macro("ByteCount")
#pragma pop_macro("WidthInBytes")
#endif

#endif // DRAGON_NVCC_H
