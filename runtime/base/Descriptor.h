//===- Descriptor.h - a file descriptor with an owner -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_DESCRIPTOR_H
#define DRAGON_RUNTIME_BASE_DESCRIPTOR_H

#include <unistd.h>
#include <utility>

namespace dragon {

/// Closes it at the end of its life. A negative number is none.
class Descriptor {
public:
  explicit Descriptor(int number) : Number(number) {}
  Descriptor(Descriptor &&other) noexcept
      : Number(std::exchange(other.Number, -1)) {}
  Descriptor &operator=(Descriptor &&) = delete;
  ~Descriptor() {
    if (valid())
      ::close(Number);
  }
  bool valid() const { return Number >= 0; }
  int get() const { return Number; }

private:
  int Number;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_DESCRIPTOR_H
