//===- ApiCalls.h - what the functions of our C APIs share ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_API_APICALLS_H
#define DRAGON_RUNTIME_CUDART_API_APICALLS_H

#include "dragon/dragon.h"
#include "runtime/cudart/front/Front.h"

#include <new>
#include <utility>

namespace dragon {

/// What dragon_last_error_message returns.
std::string &lastApiMessage();

/// The runtime could not be entered.
dragon_error apiEnterError(cudaError_t error);

/// Runs body(front), whose Status becomes the code and the message.
template <typename Body> dragon_error apiCall(Body &&body) {
  Front *front;
  if (cudaError_t error = Front::enter(front))
    return apiEnterError(error);
  try {
    Status status = std::forward<Body>(body)(*front);
    if (status.ok())
      return DRAGON_OK;
    lastApiMessage() = status.message();
    return status.code();
  } catch (const std::bad_alloc &) {
    lastApiMessage() = "no memory for bookkeeping";
    return DRAGON_ERROR_OUT_OF_MEMORY;
  }
}

/// The map or buffer that begins at `address`.
Status bufferAt(Front &front, const void *address, const char *call,
                BufferInfo &info);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_API_APICALLS_H
