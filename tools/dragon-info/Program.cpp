//===- Program.cpp - what dragon-info says of a program -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-info/Program.h"

#include "dragon/FootprintEval.h"
#include "runtime/base/SymbolNames.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace dragon::info {

namespace {

/// Blobs are aligned to that in sections, and so in files.
constexpr size_t Alignment = 8;

const char *wordFor(AccessMode Mode) {
  switch (Mode) {
  case AccessMode::None:
    return "not used";
  case AccessMode::Read:
    return "read";
  case AccessMode::Write:
    return "written";
  case AccessMode::ReadWrite:
    return "read and written";
  case AccessMode::Any:
    break;
  }
  return "used in ways that are not known";
}

const char *wordsFor(AccessPattern Pattern) {
  switch (Pattern) {
  case AccessPattern::Streaming:
    return ", each byte once";
  case AccessPattern::Reused:
    return ", the same bytes by several threads or iterations";
  case AccessPattern::Strided:
    return ", with gaps";
  case AccessPattern::Indirect:
    return ", where depends on data";
  case AccessPattern::Unknown:
    break;
  }
  return "";
}

KernelPointer describe(const SummaryView &View, const PointerRecord &Pointer) {
  KernelPointer Result;
  Result.Name = View.string(Pointer.Name);
  if (Result.Name.empty())
    Result.Name = fmt::format("argument {}", Pointer.ArgIndex + 1);
  Result.Use = wordFor(Pointer.Mode);
  bool Atomic = false, Unbounded = false;
  for (uint32_t I = 0; I < Pointer.NumAccesses; ++I) {
    const uint8_t Flags = View.access(Pointer.FirstAccess + I).Flags;
    Atomic |= Flags & AccessAtomic;
    Unbounded |= Flags & AccessUnbounded;
  }
  if (Atomic)
    Result.Use = "updated atomically";
  if (Pointer.Mode != AccessMode::None && Pointer.Mode != AccessMode::Any)
    Result.Use += wordsFor(Pointer.Pattern);
  if (Unbounded && Pointer.Pattern != AccessPattern::Indirect)
    Result.Use += ", any part of it";
  if (Pointer.Flags & (PointerEscapes | PointerKept))
    Result.Use += ", its address is kept";
  return Result;
}

ProgramKernel describe(const SummaryView &View, const KernelRecord &Kernel) {
  ProgramKernel Result;
  Result.Name = shortName(View.string(Kernel.Name));
  Result.TouchesAnything =
      Kernel.Flags & (KernelTouchesAnything | KernelUnknown);
  if (!(Kernel.Flags & KernelSliceable)) {
    Result.WhyNotSliced = View.string(Kernel.WhyNotSliceable);
    if (Result.WhyNotSliced.empty())
      Result.WhyNotSliced = "the reason is not known";
  }
  Result.CutAlongLoop = Kernel.LoopName;
  Result.MayFetchPages = Kernel.Flags & KernelHasPagedCopy;
  Result.CountsAccesses = Kernel.CountingName;
  for (uint32_t I = 0; I < Kernel.NumPointers; ++I)
    Result.Pointers.push_back(
        describe(View, View.pointer(Kernel.FirstPointer + I)));
  return Result;
}

StatusOr<std::string> contentsOf(const std::string &Path) {
  std::error_code Error;
  const auto Size = std::filesystem::file_size(Path, Error);
  std::string Bytes;
  if (!Error) {
    Bytes.resize(Size);
    std::ifstream File(Path, std::ios::binary);
    if (!File.read(Bytes.data(), std::streamsize(Size)))
      Error = {errno ? errno : EIO, std::generic_category()};
  }
  if (Error)
    return Status::native(DRAGON_ERROR_FILE, Error.value(),
                          "'{}' cannot be read: {}", Path, Error.message());
  return Bytes;
}

std::string copiesOf(const ProgramKernel &Kernel) {
  std::string Text;
  auto Add = [&](bool Has, const char *Words) {
    if (Has)
      Text += (Text.empty() ? "" : "; ") + std::string(Words);
  };
  Add(Kernel.CutAlongLoop, "can be cut along a loop");
  Add(Kernel.MayFetchPages, "may fetch pages");
  Add(Kernel.CountsAccesses, "can count accesses");
  return Text;
}

std::vector<ProgramKernel> findKernels(const std::string &Bytes) {
  std::vector<ProgramKernel> Found;
  std::set<std::string> Known;
  for (size_t At = 0; At + sizeof(SummaryHeader) <= Bytes.size();
       At += Alignment) {
    SummaryHeader Header;
    std::memcpy(&Header, &Bytes[At], sizeof(Header));
    if (Header.Magic != SummaryMagic || Header.Version != SummaryVersion ||
        Header.TotalBytes > Bytes.size() - At)
      continue;
    // The view reads words: the copy is aligned.
    std::vector<uint64_t> Blob((Header.TotalBytes + 7) / 8);
    std::memcpy(Blob.data(), &Bytes[At], Header.TotalBytes);
    SummaryView View;
    std::string Error;
    if (!SummaryView::open(Blob.data(), Header.TotalBytes, View, Error))
      continue;
    for (uint32_t I = 0; I < View.numKernels(); ++I)
      if (Known.insert(View.string(View.kernel(I).Name)).second)
        Found.push_back(describe(View, View.kernel(I)));
  }
  return Found;
}

/// What follows the key, up to the end of its string: each once, in the order
/// of the file.
std::vector<std::string> findNotes(std::string_view Bytes,
                                   std::string_view Key) {
  std::vector<std::string> Found;
  for (size_t At = Bytes.find(Key); At != Bytes.npos;
       At = Bytes.find(Key, At + 1)) {
    const std::string_view Rest = Bytes.substr(At + Key.size());
    const std::string_view Note = Rest.substr(0, Rest.find('\0'));
    // Others are in the code that looks for them.
    if (Note.starts_with('/') &&
        std::find(Found.begin(), Found.end(), Note) == Found.end())
      Found.emplace_back(Note);
  }
  return Found;
}

} // namespace

StatusOr<ProgramFacts> findProgram(const std::string &Path) {
  DRAGON_ASSIGN(const std::string Bytes, contentsOf(Path));
  return ProgramFacts{findKernels(Bytes), findNotes(Bytes, "dragon-record="),
                      findNotes(Bytes, "dragon-folder=")};
}

std::string formatText(const std::string &Path, const ProgramFacts &Facts) {
  const std::vector<ProgramKernel> &Kernels = Facts.Kernels;
  if (Kernels.empty())
    return fmt::format(
        "{}: no kernels that dragon-cc has analysed; it was built by another "
        "compiler, or is an object of -dc, whose kernels are analysed at the "
        "link\n",
        Path);
  std::string Text = fmt::format("{}: {} kernel{}\n", Path, Kernels.size(),
                                 Kernels.size() == 1 ? "" : "s");
  for (const ProgramKernel &Kernel : Kernels) {
    Text += fmt::format("{}\n  beyond device memory: {}\n", Kernel.Name,
                        Kernel.WhyNotSliced.empty()
                            ? "runs in slices"
                            : "not in slices: " + Kernel.WhyNotSliced);
    if (const std::string Copies = copiesOf(Kernel); !Copies.empty())
      Text += fmt::format("  {}\n", Copies);
    if (Kernel.TouchesAnything)
      Text += "  may touch any buffer\n";
    for (const KernelPointer &Pointer : Kernel.Pointers)
      Text += fmt::format("  {}: {}\n", Pointer.Name, Pointer.Use);
  }
  Text += "What a run moves: DRAGON_STATS=- in its environment. What the "
          "compiler did to buffers: -Rpass=dragon -Rpass-missed=dragon.\n";
  return Text;
}

std::string formatJson(const ProgramFacts &Facts) {
  using Json = nlohmann::ordered_json;
  Json Root;
  Root["version"] = 1;
  Root["kernels"] = Json::array();
  for (const ProgramKernel &Kernel : Facts.Kernels) {
    Json One = {{"name", Kernel.Name},
                {"sliced", Kernel.WhyNotSliced.empty()},
                {"why_not_sliced", Kernel.WhyNotSliced.empty()
                                       ? Json()
                                       : Json(Kernel.WhyNotSliced)},
                {"touches_anything", Kernel.TouchesAnything},
                {"cut_along_loop", Kernel.CutAlongLoop},
                {"may_fetch_pages", Kernel.MayFetchPages},
                {"counts_accesses", Kernel.CountsAccesses},
                {"pointers", Json::array()}};
    for (const KernelPointer &Pointer : Kernel.Pointers)
      One["pointers"].push_back({{"name", Pointer.Name}, {"use", Pointer.Use}});
    Root["kernels"].push_back(std::move(One));
  }
  Root["records"] = Facts.Records;
  Root["folders"] = Facts.Folders;
  return Root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace dragon::info
