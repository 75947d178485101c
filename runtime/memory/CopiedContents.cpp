//===- CopiedContents.cpp - contents as the program copied them -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/CopiedContents.h"

#include <algorithm>

namespace dragon {

static bool overlap(const AddressRange &a, const AddressRange &b) {
  return a.begin < b.end && b.begin < a.end;
}

void CopiedContents::follow(AddressRange range) {
  // Arrays that begin in the same place may be of any length.
  std::erase_if(Followed, [&range](const AddressRange &other) {
    if (!overlap(range, other))
      return false;
    range = {std::min(range.begin, other.begin),
             std::max(range.end, other.end)};
    return true;
  });
  if (Followed.size() == MostFollowed)
    Followed.pop_front();
  Followed.push_back(range);
}

bool CopiedContents::isFollowed(AddressRange range) const {
  return Time.Tracking && range.end - range.begin <= MostOfOne &&
         std::any_of(Followed.begin(), Followed.end(),
                     [&range](const AddressRange &other) {
                       return overlap(range, other);
                     });
}

void CopiedContents::copied(const Buffer &buffer, AddressRange to,
                            const char *from) {
  if (!isFollowed(to) || !buffer.showsWrites())
    return;
  auto drop = [this](const Copy &copy) { Bytes -= copy.bytes.size(); };
  std::erase_if(Copies, [&](const Copy &copy) {
    if (Data.isUnchanged(copy.remembered))
      return false;
    drop(copy);
    return true;
  });
  const size_t bytes = to.end - to.begin;
  while (!Copies.empty() &&
         (Copies.size() == MostCopies || Bytes + bytes > MostOfAll)) {
    drop(Copies.front());
    Copies.pop_front();
  }
  Copies.push_back({to, {from, from + bytes}, Data.remember(to)});
  Bytes += bytes;
}

const char *CopiedContents::find(AddressRange range) const {
  for (const Copy &copy : Copies)
    if (copy.range.begin <= range.begin && range.end <= copy.range.end &&
        Data.isUnchanged(copy.remembered))
      return copy.bytes.data() + (range.begin - copy.range.begin);
  return nullptr;
}

} // namespace dragon
