//===- CheckReport.cpp - what a check has found, in words -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/CheckReport.h"

#include <fmt/format.h>
#include <utility>

namespace dragon::oracle {

namespace {

/// Between who it is and the bytes, and between these and what `add` is given.
struct Words {
  const char *before;
  const char *after;
};

Words wordsOf(CheckReport::Kind kind) {
  switch (kind) {
  case CheckReport::ReadsEnded:
    return {"reads", " that a directive ended: "};
  case CheckReport::ReadsLost:
    return {"reads", " that are not what they were: "};
  case CheckReport::ReadsUnannounced:
    return {"reads", ", which its summary does not announce"};
  case CheckReport::WritesUnannounced:
    return {"writes", ", which its summary does not announce"};
  case CheckReport::WritesReadOnly:
    return {"writes", ", which its summary announces as only read"};
  case CheckReport::NotOverwritten:
    return {"does not write", ", which its summary announces as overwritten"};
  case CheckReport::ReadsBeforeOverwriting:
    return {"reads",
            " before it writes them; its summary announces that it does not"};
  case CheckReport::WritesMapped:
    return {"writes", ", a buffer that a directive made read-only: "};
  case CheckReport::Comes:
    return {"writes",
            ", a buffer that a directive keeps from having contents of the "
            "host: "};
  case CheckReport::Goes:
    return {"reads",
            ", a buffer that a directive keeps from being copied out: "};
  case CheckReport::OutOfOrder:
    return {"touches", " in the wrong order: "};
  }
  return {"", ""};
}

} // namespace

std::string textOf(const dragon_reason &why) {
  std::string text = why.remark ? fmt::format("'{}'", why.remark)
                                : std::string("one without a name");
  if (why.where.file)
    text += fmt::format(" at {}:{}", why.where.file, why.where.line);
  if (why.where.buffer && why.where.buffer[0])
    text += fmt::format(" on '{}'", why.where.buffer);
  return text;
}

void CheckReport::add(Kind kind, const std::string &buffer, uint64_t begin,
                      uint64_t end, const std::string &after) {
  auto [place, isNew] =
      Added.try_emplace({kind, buffer, after}, Bytes{begin, end});
  Bytes &bytes = place->second;
  if (isNew)
    return;
  if (begin == bytes.end && !bytes.more)
    bytes.end = end;
  else
    bytes.more += end - begin;
}

void CheckReport::tell() {
  for (const auto &[key, bytes] : std::exchange(Added, {})) {
    const auto &[kind, buffer, after] = key;
    const Words words = wordsOf(kind);
    // Launches are told apart by nothing but their numbers.
    const std::string once =
        fmt::format("{}{}{}{}", Who, int(kind), buffer,
                    after.substr(0, after.find("; last written by")));
    if (!Known.insert(once).second || Known.size() > MostLines)
      continue;
    Output(fmt::format("check: {}{} {} bytes {}-{}{} of {}{}{}", Who, Which,
                       words.before, bytes.begin, bytes.end - 1,
                       bytes.more ? fmt::format(" and {} more", bytes.more)
                                  : std::string(),
                       buffer, words.after, after));
  }
}

void CheckReport::tell(const std::string &line) {
  if (Known.insert(line).second && Known.size() <= MostLines)
    Output("check: " + line);
}

} // namespace dragon::oracle
