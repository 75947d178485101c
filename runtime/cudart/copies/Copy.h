//===- Copy.h - copies and fills of the CUDA runtime API --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_COPIES_COPY_H
#define DRAGON_RUNTIME_CUDART_COPIES_COPY_H

#include "runtime/cudart/front/Front.h"

namespace dragon {

/// Whether `kind` is a kind at all, and each side what it says.
Result checkCopy(Front &front, const void *to, const void *from, size_t bytes,
                 cudaMemcpyKind kind);

/// A short cudaMemcpy between host memory and what is on the device, which is
/// as quick as the driver; none if it is not that.
std::optional<Result> copyAtOnce(Front &front, void *to, const void *from,
                                 size_t bytes, cudaMemcpyKind kind,
                                 cudaStream_t stream);

/// cudaMemcpy, or cudaMemcpyAsync. Both sides have been checked.
Result copyBytes(Front &front, void *to, const void *from, size_t bytes,
                 cudaStream_t stream, bool async);

/// cudaMemcpy3D of `extent` bytes, rows and planes, which are checked here.
Result copyPitched(Front &front, void *to, size_t toPitch, size_t toSlice,
                   const void *from, size_t fromPitch, size_t fromSlice,
                   cudaExtent extent, cudaMemcpyKind kind, cudaStream_t stream,
                   bool async);

/// cudaMemcpy3D with an array on one side or both, on a GPU.
Result copyNvidiaArrays3D(Front &front, const cudaMemcpy3DParms &p,
                          cudaStream_t stream, bool async);

/// The same on the cpu device.
Result copyArrays3D(Front &front, const cudaMemcpy3DParms &p,
                    cudaStream_t stream, bool async);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_COPIES_COPY_H
