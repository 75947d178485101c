//===- ErrorMap.h - runtime failures as CUDA error codes --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CUDA program sees numbers. A Status becomes one here; what its message says
// beyond that number is printed, once, on stderr. Also the calling thread's
// last error and the process's sticky one: CUDA's rule is that a failed launch
// poisons everything after it, and so does out-of-core work that failed behind
// the program's back (a full swap, an input file that shrank): results that
// nobody computed must not look like results.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_FRONT_ERRORMAP_H
#define DRAGON_RUNTIME_CUDART_FRONT_ERRORMAP_H

#include "runtime/base/Status.h"

#include <driver_types.h>

namespace dragon {

/// The code alone, without any effect.
cudaError_t cudaErrorOf(const Status &status);

/// One line "dragon: error: <message>", unless the same one was printed before.
void printErrorOnce(const std::string &message);

/// cudaErrorOf, and the message printed if the code does not say it all.
cudaError_t report(const Status &status);

/// Later calls return `error`, until the device is reset; the first one stays.
void makeSticky(cudaError_t error);

/// Results that nobody computed must not pass for results: a launch that fails
/// for what the program could not foresee (a full swap, a file that shrank)
/// fails everything after it, as a failing kernel does.
cudaError_t reportOfLaunch(const Status &status);
cudaError_t stickyError();
void clearStickyError();
/// Errors after which CUDA's context is unusable (a kernel trapped).
bool endsContext(cudaError_t error);

/// The calling thread's last error.
cudaError_t &lastError();

/// For forwarders: remembers `error` for cudaGetLastError, and returns it.
inline cudaError_t leave(cudaError_t error) {
  if (error != cudaSuccess)
    lastError() = error;
  return error;
}

/// What an API call's body returns: a code, or a Status that becomes one.
class Result {
public:
  Result(cudaError_t error) : Error(error) {}
  Result(const Status &status) : Error(report(status)) {}
  cudaError_t error() const { return Error; }

private:
  cudaError_t Error;
};

/// Returns from a body that returns Result if `expr` failed.
#define DRAGON_CHECK(expr)                                                     \
  do {                                                                         \
    if (::dragon::Result dragonResult = (expr);                                \
        dragonResult.error() != cudaSuccess)                                   \
      return dragonResult;                                                     \
  } while (false)

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_FRONT_ERRORMAP_H
