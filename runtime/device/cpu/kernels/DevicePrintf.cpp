//===- DevicePrintf.cpp - printf as kernels call it -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/kernels/DevicePrintf.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace dragon {

namespace {

/// The packed arguments, taken one after the other.
class Arguments {
public:
  explicit Arguments(const void *memory)
      : Base(static_cast<const char *>(memory)) {}
  template <typename T> T take() {
    Offset = (Offset + alignof(T) - 1) / alignof(T) * alignof(T);
    T value;
    std::memcpy(&value, Base + Offset, sizeof(T));
    Offset += sizeof(T);
    ++Taken;
    return value;
  }
  int taken() const { return Taken; }

private:
  const char *Base;
  size_t Offset = 0;
  int Taken = 0;
};

template <typename T>
void printAs(std::string &out, const std::string &conversion, T value) {
  char small[256];
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
#pragma clang diagnostic ignored "-Wformat-security"
  int length = std::snprintf(small, sizeof(small), conversion.c_str(), value);
  if (length < 0)
    return;
  if (static_cast<size_t>(length) < sizeof(small)) {
    out.append(small, static_cast<size_t>(length));
    return;
  }
  size_t begin = out.size();
  out.resize(begin + static_cast<size_t>(length) + 1);
  std::snprintf(&out[begin], static_cast<size_t>(length) + 1,
                conversion.c_str(), value);
#pragma clang diagnostic pop
  out.pop_back();
}

/// %[flags][width][.precision][size]type, with * taken from the arguments.
class Conversion {
public:
  /// `format` is behind the %.
  Conversion(const char *format, Arguments &args) : Next(format), Args(args) {
    while (*Next && std::strchr("-+ #0", *Next))
      Front += *Next++;
    number();
    if (*Next == '.') {
      Front += *Next++;
      number();
    }
    while (*Next && std::strchr("hlLjztq", *Next)) {
      EightBytes |= *Next != 'h' && *Next != 'L';
      Size += *Next++;
    }
  }

  /// Prints the next argument. False: no conversion that CUDA knows.
  bool print(std::string &out);
  /// What follows it.
  const char *end() const { return *Next ? Next + 1 : Next; }

private:
  void number() {
    if (*Next == '*') {
      Front += std::to_string(Args.take<int32_t>());
      ++Next;
      return;
    }
    while (*Next >= '0' && *Next <= '9')
      Front += *Next++;
  }
  template <typename Wide, typename Narrow> void integer(std::string &out) {
    if (EightBytes)
      printAs(out, Front + "ll" + *Next, Args.take<Wide>());
    else
      printAs(out, Front + Size + *Next, Args.take<Narrow>());
  }

  const char *Next; ///< in the end, the type
  Arguments &Args;
  std::string Front = "%";
  std::string Size;
  bool EightBytes = false;
};

bool Conversion::print(std::string &out) {
  switch (*Next) {
  case 'd':
  case 'i':
    integer<long long, int32_t>(out);
    return true;
  case 'u':
  case 'o':
  case 'x':
  case 'X':
    integer<unsigned long long, uint32_t>(out);
    return true;
  case 'c':
    printAs(out, Front + 'c', Args.take<int32_t>());
    return true;
  case 'a':
  case 'A':
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    printAs(out, Front + *Next, Args.take<double>());
    return true;
  case 's': {
    const char *text = Args.take<const char *>();
    printAs(out, Front + 's', text ? text : "(null)");
    return true;
  }
  case 'p':
    printAs(out, Front + 'p', Args.take<const void *>());
    return true;
  default:
    return false;
  }
}

} // namespace

int formatDevicePrintf(std::string &out, const char *format,
                       const void *arguments) {
  if (!format)
    return -1;
  Arguments args(arguments);
  while (*format) {
    if (*format != '%') {
      const char *end = format;
      while (*end && *end != '%')
        ++end;
      out.append(format, end);
      format = end;
      continue;
    }
    const char *start = format++;
    if (*format == '%') {
      out += '%';
      ++format;
      continue;
    }
    Conversion conversion(format, args);
    format = conversion.end();
    if (!conversion.print(out))
      out.append(start, format); // printed as it stands
  }
  return args.taken();
}

} // namespace dragon
