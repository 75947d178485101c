//===- Status.h - error code and message, without exceptions -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Status is one pointer: null is success. It carries one of the public error
// codes (dragon.h) and a message: lower case, no full stop, the thing, the
// values, the cure. Context is added on the way up and formatted only on
// failure. Immutable after creation; may be moved between threads.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_STATUS_H
#define DRAGON_RUNTIME_BASE_STATUS_H

#include "dragon/dragon.h"

#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace dragon {

class [[nodiscard]] Status {
public:
  Status() = default;
  template <typename... Args>
  static Status error(dragon_error code, fmt::format_string<Args...> format,
                      Args &&...args) {
    return Status(code, 0, fmt::format(format, std::forward<Args>(args)...));
  }
  /// As error(), with the code of the system call or driver that failed
  /// (errno, CUresult): the front end maps it back.
  template <typename... Args>
  static Status native(dragon_error code, int nativeCode,
                       fmt::format_string<Args...> format, Args &&...args) {
    return Status(code, nativeCode,
                  fmt::format(format, std::forward<Args>(args)...));
  }

  bool ok() const { return !State; }
  dragon_error code() const { return State ? State->Code : DRAGON_OK; }
  int nativeCode() const { return State ? State->Native : 0; }
  const std::string &message() const {
    static const std::string None;
    return State ? State->Message : None;
  }

  /// "context: message".
  template <typename... Args>
  Status within(fmt::format_string<Args...> format, Args &&...args) && {
    if (State)
      State->Message = fmt::format(format, std::forward<Args>(args)...) + ": " +
                       State->Message;
    return std::move(*this);
  }
  /// The same failure once more, for those that are kept and told again.
  Status copy() const {
    return State ? Status(State->Code, State->Native, State->Message)
                 : Status();
  }
  /// For failures that are handled or that nobody can act on.
  void ignore() const {}

private:
  struct Details {
    dragon_error Code;
    int Native;
    std::string Message;
  };
  Status(dragon_error code, int native, std::string message)
      : State(std::make_unique<Details>(
            Details{code, native, std::move(message)})) {}
  std::unique_ptr<Details> State;
};

template <typename T> class [[nodiscard]] StatusOr {
public:
  StatusOr(T value) : Content(std::move(value)) {}
  StatusOr(Status status) : Content(std::move(status)) {}
  bool ok() const { return std::holds_alternative<T>(Content); }
  T &operator*() { return std::get<T>(Content); }
  const T &operator*() const { return std::get<T>(Content); }
  T *operator->() { return &std::get<T>(Content); }
  /// The failure; ok() must be false.
  Status copyStatus() const { return std::get<Status>(Content).copy(); }
  Status takeStatus() {
    return ok() ? Status() : std::move(std::get<Status>(Content));
  }

private:
  std::variant<T, Status> Content;
};

/// Returns from the enclosing function if `expr` failed.
#define DRAGON_TRY(expr)                                                       \
  do {                                                                         \
    if (::dragon::Status dragonStatus = (expr); !dragonStatus.ok())            \
      return dragonStatus;                                                     \
  } while (false)
/// The same, with context: DRAGON_TRY_IN(read(), "reading {}", path).
#define DRAGON_TRY_IN(expr, ...)                                               \
  do {                                                                         \
    if (::dragon::Status dragonStatus = (expr); !dragonStatus.ok())            \
      return std::move(dragonStatus).within(__VA_ARGS__);                      \
  } while (false)
#define DRAGON_CONCAT2(a, b) a##b
#define DRAGON_CONCAT(a, b) DRAGON_CONCAT2(a, b)
/// DRAGON_ASSIGN(auto x, f()): x = *f(), or return.
#define DRAGON_ASSIGN(decl, expr)                                              \
  auto DRAGON_CONCAT(dragonOr, __LINE__) = (expr);                             \
  if (!DRAGON_CONCAT(dragonOr, __LINE__).ok())                                 \
    return DRAGON_CONCAT(dragonOr, __LINE__).takeStatus();                     \
  decl = std::move(*DRAGON_CONCAT(dragonOr, __LINE__))

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_STATUS_H
