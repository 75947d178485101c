//===- CheckReport.h - what a check has found, in words ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes that are wrong for the same reason are one line, in a loop as well: a
// launch that comes again with the same mistake is not told again. The first
// lines are printed at once, since the program may crash over what they say.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_ORACLE_CHECKREPORT_H
#define DRAGON_RUNTIME_ORACLE_CHECKREPORT_H

#include "dragon/CompilerABI.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace dragon::oracle {

/// "'Discarded' at a.cu:41"
std::string textOf(const dragon_reason &why);

class CheckReport {
public:
  using Print = std::function<void(const std::string &)>;
  /// Lines that are printed at most; the others are counted.
  static constexpr unsigned MostLines = 10;

  enum Kind {
    ReadsEnded,
    ReadsLost,
    ReadsUnannounced,
    WritesUnannounced,
    WritesReadOnly,
    NotOverwritten,
    ReadsBeforeOverwriting,
    WritesMapped,
    Comes,
    Goes,
    OutOfOrder,
  };

  explicit CheckReport(Print print) : Output(std::move(print)) {}

  /// Who does what follows: "kernel 'k'", and which: " (launch 7)".
  void actor(std::string who, std::string which = "") {
    Who = std::move(who);
    Which = std::move(which);
  }
  /// Bytes [begin, end) of the buffer; ascending until tell().
  void add(Kind kind, const std::string &buffer, uint64_t begin, uint64_t end,
           const std::string &after);
  /// All that was added since the last time.
  void tell();
  /// A line of its own, once.
  void tell(const std::string &line);

  uint64_t problems() const { return Known.size(); }
  void print(const std::string &line) const { Output(line); }

private:
  struct Bytes {
    uint64_t begin, end; ///< the first ones that lie together
    uint64_t more = 0;   ///< others
  };
  Print Output;
  std::string Who, Which;
  std::map<std::tuple<Kind, std::string, std::string>, Bytes> Added;
  std::set<std::string> Known;
};

} // namespace dragon::oracle

#endif // DRAGON_RUNTIME_ORACLE_CHECKREPORT_H
