//===- DevicePrintf.cpp - printf as kernels call it -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/DevicePrintf.h"

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
void print(std::string &out, const std::string &conversion, T value) {
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
    // %[flags][width][.precision][size]type, with * taken from the arguments.
    std::string conversion = "%";
    while (*format && std::strchr("-+ #0", *format))
      conversion += *format++;
    auto number = [&] {
      if (*format == '*') {
        conversion += std::to_string(args.take<int32_t>());
        ++format;
        return;
      }
      while (*format >= '0' && *format <= '9')
        conversion += *format++;
    };
    number();
    if (*format == '.') {
      conversion += *format++;
      number();
    }
    bool eightBytes = false;
    std::string size;
    while (*format && std::strchr("hlLjztq", *format)) {
      eightBytes |= *format != 'h' && *format != 'L';
      size += *format++;
    }
    switch (*format) {
    case 'd':
    case 'i':
      if (eightBytes)
        print(out, conversion + "ll" + *format,
              static_cast<long long>(args.take<int64_t>()));
      else
        print(out, conversion + size + *format, args.take<int32_t>());
      break;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      if (eightBytes)
        print(out, conversion + "ll" + *format,
              static_cast<unsigned long long>(args.take<uint64_t>()));
      else
        print(out, conversion + size + *format, args.take<uint32_t>());
      break;
    case 'c':
      print(out, conversion + 'c', args.take<int32_t>());
      break;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      print(out, conversion + *format, args.take<double>());
      break;
    case 's': {
      const char *text = args.take<const char *>();
      print(out, conversion + 's', text ? text : "(null)");
      break;
    }
    case 'p':
      print(out, conversion + 'p', args.take<const void *>());
      break;
    default:
      // No conversion that CUDA knows: printed as it stands.
      out.append(start, *format ? format + 1 : format);
      break;
    }
    if (*format)
      ++format;
  }
  return args.taken();
}

} // namespace dragon
