//===- Layout.cpp - where the bytes of a message are ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/mpi/Layout.h"

#include <climits>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <sys/mman.h>

namespace dragon::mpi {

namespace {

struct Type {
  int64_t extent = 0;
  Layout element;
};

std::mutex typesLock;
std::map<Word, std::shared_ptr<const Type>> &types() {
  static auto *known = new std::map<Word, std::shared_ptr<const Type>>;
  return *known;
}

/// Pages of zeros that take no memory before they are written to.
class Zeros {
public:
  explicit Zeros(size_t bytes)
      : Bytes(bytes),
        Memory(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Zeros() {
    if (there())
      ::munmap(Memory, Bytes);
  }
  Zeros(const Zeros &) = delete;
  Zeros &operator=(const Zeros &) = delete;
  bool there() const { return Memory != MAP_FAILED; }
  char *data() const { return static_cast<char *>(Memory); }

private:
  const size_t Bytes;
  void *const Memory;
};

/// The first byte from `at` on that is zero, or is not.
size_t findByte(const char *bytes, size_t at, size_t end, bool zero) {
  const uint64_t passed = zero ? UINT64_MAX : 0;
  while (at < end) {
    uint64_t word;
    if (end - at >= sizeof word) {
      std::memcpy(&word, bytes + at, sizeof word);
      if (word == passed) {
        at += sizeof word;
        continue;
      }
    }
    if ((bytes[at] == 0) == zero)
      break;
    ++at;
  }
  return at;
}

Status probe(const Library &library, Word type, Count size, Count low,
             Count span, Layout &element) {
  const Zeros zeros{size_t(span)};
  if (size > INT_MAX || !zeros.there())
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "one element of the datatype has {} bytes in {}", size,
                         span);
  const std::vector<char> ones(size_t(size), '\xff');
  int position = 0;
  if (library.calls().Unpack(ones.data(), int(size), &position,
                             zeros.data() - low, 1, type, library.self()))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "MPI_Unpack refuses the datatype");
  for (size_t at = 0, end = size_t(span);;) {
    at = findByte(zeros.data(), at, end, false);
    if (at == end)
      return {};
    const size_t behind = findByte(zeros.data(), at, end, true);
    element.add(low + int64_t(at), behind - at);
    at = behind;
  }
}

StatusOr<std::shared_ptr<const Type>> find(const Library &library, Word type) {
  type = library.handle(type);
  {
    std::lock_guard<std::mutex> guard(typesLock);
    if (auto known = types().find(type); known != types().end())
      return known->second;
  }
  Count size = 0, low = 0, extent = 0, trueLow = 0, span = 0;
  const OwnCalls &calls = library.calls();
  if (calls.Type_size_x(type, &size) ||
      calls.Type_get_extent_x(type, &low, &extent) ||
      calls.Type_get_true_extent_x(type, &trueLow, &span))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT, "no such datatype");
  auto found = std::make_shared<Type>();
  found->extent = extent;
  if (size == span)
    found->element.add(trueLow, uint64_t(size));
  else
    DRAGON_TRY(probe(library, type, size, trueLow, span, found->element));
  std::lock_guard<std::mutex> guard(typesLock);
  types()[type] = found;
  return std::shared_ptr<const Type>(found);
}

} // namespace

void Layout::add(int64_t offset, uint64_t bytes) {
  if (!bytes)
    return;
  Begin = std::min(Begin, offset);
  End = std::max(End, offset + int64_t(bytes));
  if (!Runs.empty()) {
    Run &last = Runs.back();
    if (last.rows == 1 && last.offset + int64_t(last.bytes) == offset) {
      last.bytes += bytes;
      return;
    }
    const int64_t pitch =
        last.rows == 1 ? offset - last.offset : int64_t(last.pitch);
    if (last.bytes == bytes && pitch >= int64_t(bytes) &&
        offset == last.offset + int64_t(last.rows) * pitch) {
      last.pitch = uint64_t(pitch);
      ++last.rows;
      return;
    }
  }
  Runs.push_back({offset, bytes, bytes, 1});
}

void Layout::add(const Layout &other, int64_t at) {
  for (const Run &run : other.Runs)
    for (uint64_t row = 0; row < run.rows; ++row)
      add(at + run.offset + int64_t(row * run.pitch), run.bytes);
}

Status addElements(const Library &library, Layout &to, int64_t at,
                   int64_t count, Word type) {
  DRAGON_ASSIGN(const std::shared_ptr<const Type> known, find(library, type));
  const Layout &element = known->element;
  if (count <= 0 || element.empty())
    return {};
  if (element.isDense() && known->extent == element.end() - element.begin()) {
    to.add(at + element.begin(), uint64_t(count * known->extent));
    return {};
  }
  for (int64_t i = 0; i < count; ++i)
    to.add(element, at + i * known->extent);
  return {};
}

int64_t extentOf(const Library &library, Word type) {
  auto known = find(library, type);
  if (known.ok())
    return (*known)->extent;
  known.takeStatus().ignore(); // who adds elements is told
  return 0;
}

void forgetType(const Library &library, Word type) {
  std::lock_guard<std::mutex> guard(typesLock);
  types().erase(library.handle(type));
}

} // namespace dragon::mpi
