//===- HeaderEdits.cpp - lines of NVIDIA's headers for clang --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/HeaderEdits.h"

#include "tools/dragon-cc/SourceWords.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace dragon::driver {

namespace {

/// `To` for each `From`, which is there at least once.
struct Edit {
  StringLiteral Header;
  StringLiteral From;
  StringLiteral To;
};

/// All of them or none, for programs whose files have one of `Words` and none
/// of `Except`.
struct Group {
  ArrayRef<StringRef> Words;
  ArrayRef<StringRef> Except;
  ArrayRef<Edit> Edits;
};

constexpr StringRef HalfWords[] = {"half2"};
constexpr Edit HalfEdits[] = {
    {"cuda_fp16.h",
     "__CUDA_HOSTDEVICE__ __half2 &operator=(const __half2_raw &h2r);",
     "template <typename = void> "
     "__CUDA_HOSTDEVICE__ __half2 &operator=(const __half2_raw &h2r);"},
    {"cuda_fp16.hpp",
     "__CUDA_HOSTDEVICE__ __CUDA_FP16_INLINE__ __half2 "
     "&__half2::operator=(const __half2_raw &h2r) {",
     "template <typename> __CUDA_HOSTDEVICE__ __CUDA_FP16_INLINE__ __half2 "
     "&__half2::operator=(const __half2_raw &h2r) {"}};

constexpr StringRef BfloatWords[] = {"bfloat162"};
constexpr Edit BfloatEdits[] = {
    {"cuda_bf16.h",
     "__CUDA_HOSTDEVICE__ __nv_bfloat162 &operator=(const __nv_bfloat162_raw "
     "&h2r);",
     "template <typename = void> __CUDA_HOSTDEVICE__ __nv_bfloat162 "
     "&operator=(const __nv_bfloat162_raw &h2r);"},
    {"cuda_bf16.hpp",
     "__CUDA_HOSTDEVICE__ __CUDA_BF16_INLINE__ __nv_bfloat162 "
     "&__nv_bfloat162::operator=(const __nv_bfloat162_raw &h2r) {",
     "template <typename> __CUDA_HOSTDEVICE__ __CUDA_BF16_INLINE__ "
     "__nv_bfloat162 "
     "&__nv_bfloat162::operator=(const __nv_bfloat162_raw &h2r) {"}};

constexpr StringRef BarrierWords[] = {"cuda/barrier", "cuda/pipeline"};
constexpr StringRef BarrierExcept[] = {"->~", ".~", "::~", "destroy_at"};
constexpr Edit BarrierEdits[] = {
    {"cccl/cuda/__barrier/barrier_block_scope.h", "~barrier()\n",
     "~barrier() = default; "
     "_LIBCUDACXX_HIDE_FROM_ABI void __dragon_invalidate()\n"},
    {"cccl/cuda/pipeline", ".~barrier();", ".__dragon_invalidate();"}};

constexpr Group Groups[] = {{HalfWords, {}, HalfEdits},
                            {BfloatWords, {}, BfloatEdits},
                            {BarrierWords, BarrierExcept, BarrierEdits}};

} // namespace

std::vector<std::pair<std::string, std::string>>
editedHeaders(StringRef Include, StringRef File,
              const std::vector<std::string> &Folders) {
  std::vector<std::pair<std::string, std::string>> Files;
  for (const Group &One : Groups) {
    auto Mentioned = [&](StringRef Word) {
      return mentions(File, Word, Folders);
    };
    if (none_of(One.Words, Mentioned) || any_of(One.Except, Mentioned))
      continue;
    std::vector<std::pair<std::string, std::string>> Edited;
    for (const Edit &Change : One.Edits) {
      std::string Path = (Include + "/" + Change.Header).str();
      ErrorOr<std::unique_ptr<MemoryBuffer>> Text = MemoryBuffer::getFile(Path);
      if (!Text || !(*Text)->getBuffer().contains(Change.From))
        break;
      auto Pieces = split((*Text)->getBuffer(), Change.From);
      Edited.push_back({Path, join(Pieces, Change.To)});
    }
    if (Edited.size() == One.Edits.size())
      Files.insert(Files.end(), Edited.begin(), Edited.end());
  }
  return Files;
}

} // namespace dragon::driver
