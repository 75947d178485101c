//===- GpuArchs.cpp - -arch, -code and -gencode ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/GpuArchs.h"

#include "clang/Basic/OffloadArch.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dragon::driver {

namespace {

constexpr StringLiteral DefaultArch = "75"; // as nvcc 13
constexpr unsigned OldestArch = 75;         // CUDA 13 knows none older
constexpr StringLiteral OldestKnown = "75";

/// Architectures that nvcc had before.
bool isOlder(StringRef Number) {
  static constexpr StringLiteral Older[] = {"10", "11", "12", "13", "20", "21",
                                            "30", "32", "35", "37", "50", "52",
                                            "53", "60", "61", "62", "70", "72"};
  return is_contained(Older, Number);
}

bool known(StringRef Number) {
  unsigned Value = 0;
  if (Number.rtrim("af").getAsInteger(10, Value) || Value < OldestArch)
    return false;
  if (Number.rtrim("a") == "101") // what CUDA 13 calls sm_110
    return false;
  clang::OffloadArch Arch = clang::StringToOffloadArch(("sm_" + Number).str());
  return clang::IsNVIDIAOffloadArch(Arch);
}

unsigned order(const GpuArch &Arch) {
  unsigned Value = 0;
  StringRef Number = StringRef(Arch.Name).drop_front(3);
  (void)Number.consumeInteger(10, Value);
  return Value * 2 + !Number.empty(); // sm_90 before sm_90a
}

} // namespace

std::vector<std::string> knownArchs() {
  std::vector<std::string> Result;
  for (unsigned I = 0; I < unsigned(clang::OffloadArch::LAST); ++I) {
    StringRef Name = clang::OffloadArchToString(clang::OffloadArch(I));
    if (Name.consume_front("sm_") && known(Name))
      Result.push_back("sm_" + Name.str());
  }
  return Result;
}

void sortArchs(std::vector<GpuArch> &Archs) {
  llvm::sort(Archs, [](const GpuArch &A, const GpuArch &B) {
    return order(A) < order(B);
  });
}

Expected<std::string> GpuArchs::number(StringRef Name, StringRef Option) {
  StringRef Number = Name;
  // lto_90 is what links optimise: all relocatable code here.
  if (!Number.consume_front("sm_") && !Number.consume_front("compute_") &&
      !Number.consume_front("lto_"))
    return error("bad value '" + Name + "' in '" + Option +
                 "': expected sm_X or compute_X, as sm_90");
  if (isOlder(Number)) {
    Older.insert(("sm_" + Number).str());
    return OldestKnown.str();
  }
  if (!known(Number))
    return error("unknown GPU architecture '" + Name + "' in '" + Option +
                 "'; known are " + join(knownArchs(), ", "));
  return Number.str();
}

void GpuArchs::add(StringRef Number, bool Ptx) {
  std::string Name = ("sm_" + Number).str();
  for (GpuArch &Existing : Archs)
    if (Existing.Name == Name) {
      Existing.Ptx |= Ptx;
      return;
    }
  Archs.push_back({Name, Ptx});
}

Error GpuArchs::arch(StringRef Value) {
  if (Value.empty())
    return error("no value in '-arch='; expected sm_X, as sm_90");
  Arch = Value.str();
  return Error::success();
}

Error GpuArchs::code(StringRef Value) {
  Codes = Value.str();
  return Error::success();
}

Error GpuArchs::addCodes(StringRef List, StringRef Option) {
  for (StringRef Code : split(List, ',')) {
    Expected<std::string> Number = number(Code.trim(), Option);
    if (!Number)
      return Number.takeError();
    add(*Number, Code.trim().starts_with("compute_"));
  }
  return Error::success();
}

Error GpuArchs::gencode(StringRef Value) {
  std::string Option = ("-gencode " + Value).str();
  StringRef Rest = Value;
  Rest = Rest.trim("\"'");
  if (!Rest.consume_front("arch="))
    return error("bad value in '" + Option +
                 "': expected arch=compute_X,code=sm_X");
  auto [Virtual, Code] = Rest.split(',');
  Expected<std::string> Number = number(Virtual, Option);
  if (!Number)
    return Number.takeError();
  if (Code.empty()) { // PTX alone, as for nvcc
    add(*Number, true);
    return Error::success();
  }
  if (!Code.consume_front("code="))
    return error("bad value in '" + Option +
                 "': expected arch=compute_X,code=sm_X");
  Code = Code.trim("\"'");
  if (Code.consume_front("["))
    Code.consume_back("]");
  return addCodes(Code, Option);
}

Error GpuArchs::offload(StringRef Value) {
  std::string Option = ("--cuda-gpu-arch=" + Value).str();
  for (StringRef Name : split(Value, ',')) {
    if (Name == "native") {
      IsNative = true;
      continue;
    }
    Expected<std::string> Number = number(Name, Option);
    if (!Number)
      return Number.takeError();
    add(*Number, false);
  }
  return Error::success();
}

Error GpuArchs::includePtx(StringRef Value, bool Include) {
  if (Value != "all") {
    Expected<std::string> Number = number(
        Value, Include ? "--cuda-include-ptx=" : "--no-cuda-include-ptx=");
    if (!Number)
      return Number.takeError();
    PtxChoices.push_back({"sm_" + *Number, Include});
    return Error::success();
  }
  PtxChoices.push_back({"", Include});
  return Error::success();
}

Expected<std::vector<GpuArch>> GpuArchs::finish(bool &Native) {
  std::string Option = "-arch=" + Arch;
  if (Arch == "native") {
    IsNative = true;
  } else if (Arch == "all" || Arch == "all-major") {
    for (StringRef Name : knownArchs())
      if (isDigit(Name.back()) &&
          (Arch == "all" || Name.back() == '0' || Name == "sm_75"))
        add(Name.drop_front(3), false);
    Archs.back().Ptx = true;
  } else if (!Arch.empty()) {
    Expected<std::string> Number = number(Arch, Option);
    if (!Number)
      return Number.takeError();
    if (Codes.empty())
      add(*Number, true);
  }
  if (!Codes.empty()) {
    if (Arch.empty())
      return error("'-code=" + Codes + "' needs -arch=compute_X");
    if (Error Failed = addCodes(Codes, "-code=" + Codes))
      return std::move(Failed);
  }
  if (Archs.empty() && !IsNative)
    add(DefaultArch, true);
  // What is asked for an older GPU runs on today's by its PTX alone.
  if (!Older.empty())
    add(OldestKnown, true);
  sortArchs(Archs);
  for (const auto &[Name, Include] : PtxChoices)
    for (GpuArch &One : Archs)
      if (Name.empty() || One.Name == Name)
        One.Ptx = Include;
  Native = IsNative;
  return Archs;
}

std::string GpuArchs::warning() const {
  if (Older.empty())
    return "";
  return "CUDA 13 does not compile for GPUs older than sm_75: " +
         join(Older, ", ") + " became sm_75 with PTX";
}

} // namespace dragon::driver
