//===- NvidiaOrOwn.h - calls that are NVIDIA's on a GPU ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   return DRAGON_EITHER(memory, cudaX, (arguments), { the cpu device's body
//   });
//
// is a call that is NVIDIA's on a GPU. `memory`: what it makes works on memory
// that the runtime manages, which has to stay in device memory then.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MODULES_NVIDIAOROWN_H
#define DRAGON_RUNTIME_CUDART_MODULES_NVIDIAOROWN_H

#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/modules/Module.h"

#define DRAGON_UNPACK(...) __VA_ARGS__
#define DRAGON_EITHER(memory, name, args, ...)                                 \
  onEither(                                                                    \
      memory, [&] { return DRAGON_NVIDIA(name, DRAGON_UNPACK args); },         \
      [&]([[maybe_unused]] Front & front)->Result __VA_ARGS__)

namespace dragon {

/// The same for what DRAGON_EITHER cannot say.
template <typename Nvidia, typename Own>
cudaError_t onEither(bool memory, Nvidia &&nvidia, Own &&own) {
  return withDevice([&](Front &front) -> Result {
    if (!front.gpu)
      return own(front);
    DRAGON_CHECK(modules().initialise(front));
    if (memory)
      DRAGON_CHECK(keepAllResident(front));
    return nvidia();
  });
}

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_MODULES_NVIDIAOROWN_H
