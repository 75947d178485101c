//===- DeviceUnits.cpp - relocatable device code in objects ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-device-link/DeviceUnits.h"

#include "passes/rewrite/UnitBitcode.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/OffloadBinary.h"
#include "llvm/Support/FileSystem.h"

#include <cstring>
#include <optional>

using namespace llvm;
using namespace llvm::object;

namespace dragon::devicelink {

const DeviceImage *DeviceUnit::image(StringRef Arch) const {
  for (const DeviceImage &One : Images)
    if (One.Arch == Arch)
      return &One;
  return nullptr;
}

namespace {

/// Whether [Offset, Offset + Count * Each) lies within Bytes.
bool fits(uint64_t Offset, uint64_t Count, uint64_t Each, uint64_t Bytes) {
  return Offset <= Bytes && Count <= (Bytes - Offset) / Each;
}

/// A copy of the T at an offset; not there: nothing.
template <typename T> std::optional<T> readAt(StringRef Bytes, uint64_t Where) {
  if (!fits(Where, 1, sizeof(T), Bytes.size()))
    return std::nullopt;
  T Value;
  std::memcpy(&Value, Bytes.data() + Where, sizeof(T));
  return Value;
}

/// Whether an offloading binary's parts lie within it. OffloadBinary::create()
/// looks at the header alone and follows every other offset.
bool isWhole(StringRef Binary, const OffloadBinary::Header &Header) {
  const auto Entry = readAt<OffloadBinary::Entry>(Binary, Header.EntryOffset);
  if (!Entry || Header.EntryOffset % OffloadBinary::getAlignment() ||
      Entry->StringOffset % OffloadBinary::getAlignment() ||
      !fits(Entry->ImageOffset, Entry->ImageSize, 1, Binary.size()) ||
      !fits(Entry->StringOffset, Entry->NumStrings,
            sizeof(OffloadBinary::StringEntry), Binary.size()))
    return false;
  auto Ends = [Binary](uint64_t String) {
    return Binary.find('\0', String) != StringRef::npos;
  };
  for (uint64_t I = 0; I < Entry->NumStrings; ++I) {
    const auto Pair = readAt<OffloadBinary::StringEntry>(
        Binary, Entry->StringOffset + I * sizeof(OffloadBinary::StringEntry));
    if (!Pair || !Ends(Pair->KeyOffset) || !Ends(Pair->ValueOffset))
      return false;
  }
  return true;
}

/// What a section for device code holds is one binary after the other.
Error checkOffloadSection(StringRef Contents) {
  while (!Contents.empty()) {
    const auto Header = readAt<OffloadBinary::Header>(Contents, 0);
    if (!Header || Header->Size < sizeof(*Header) ||
        Header->Size > Contents.size() ||
        !isWhole(Contents.take_front(Header->Size), *Header))
      return createStringError("its device code is damaged");
    Contents = Contents.drop_front(Header->Size);
  }
  return Error::success();
}

class Reader {
public:
  explicit Reader(StringRef Path) : Path(Path) {}
  Error file(MemoryBufferRef Buffer);
  DeviceCode Result;

private:
  Error archive(MemoryBufferRef Buffer);
  /// Member is null for files that are objects.
  Error object(MemoryBufferRef Buffer, const Twine &Name,
               const Archive::Child *Member);

  StringRef Path;
};

Error Reader::file(MemoryBufferRef Buffer) {
  switch (identify_magic(Buffer.getBuffer())) {
  case file_magic::archive:
    return archive(Buffer);
  case file_magic::elf_relocatable:
    return object(Buffer, Path, nullptr);
  default:
    return Error::success();
  }
}

Error Reader::archive(MemoryBufferRef Buffer) {
  Expected<std::unique_ptr<Archive>> Members = Archive::create(Buffer);
  if (!Members)
    return Members.takeError();
  Error Failed = Error::success();
  for (const Archive::Child &Member : (*Members)->children(Failed)) {
    Expected<StringRef> Name = Member.getName();
    if (!Name)
      return joinErrors(std::move(Failed), Name.takeError());
    Expected<MemoryBufferRef> Content = contentOf(Member);
    if (!Content)
      return joinErrors(std::move(Failed), Content.takeError());
    if (identify_magic(Content->getBuffer()) != file_magic::elf_relocatable)
      continue;
    if (Error Bad = object(*Content, Path + "(" + *Name + ")", &Member))
      return joinErrors(std::move(Failed), std::move(Bad));
  }
  return Failed;
}

Error Reader::object(MemoryBufferRef Buffer, const Twine &Name,
                     const Archive::Child *Member) {
  Expected<std::unique_ptr<ObjectFile>> Object =
      ObjectFile::createELFObjectFile(Buffer);
  if (!Object)
    return Object.takeError();
  for (const ELFSymbolRef &Symbol :
       cast<ELFObjectFileBase>(**Object).symbols()) {
    Expected<StringRef> Label = Symbol.getName();
    Expected<uint32_t> Flags = Symbol.getFlags();
    if (!Label || !Flags)
      return joinErrors(Label.takeError(), Flags.takeError());
    if (!Label->consume_front(RegisterPrefix))
      continue;
    if (!(*Flags & SymbolRef::SF_Undefined))
      Result.Linked.push_back(Label->str());
    else if (!Member)
      Result.Called.push_back(Label->str());
  }

  for (const ELFSectionRef Section :
       cast<ELFObjectFileBase>(**Object).sections()) {
    const bool HostBitcode = Section.getType() == ELF::SHT_LLVM_LTO;
    if (Section.getType() != ELF::SHT_LLVM_OFFLOADING && !HostBitcode)
      continue;
    Expected<StringRef> Contents = Section.getContents();
    if (!Contents)
      return Contents.takeError();
    if (HostBitcode) {
      Result.HostBitcode |= Contents->contains(LinkMark);
      continue;
    }
    if (Error Damaged = checkOffloadSection(*Contents))
      return Damaged;
  }

  SmallVector<OffloadFile, 4> Files;
  if (Error Failed = extractOffloadBinaries(Buffer, Files))
    return Failed;
  size_t First = Result.Units.size();
  for (const OffloadFile &File : Files) {
    const OffloadBinary &Binary = *File.getBinary();
    StringRef Id = Binary.getString(UnitKey);
    if (Id.empty() || Binary.getImageKind() != IMG_Bitcode)
      continue;
    auto Unit = std::find_if(Result.Units.begin() + First, Result.Units.end(),
                             [&](const DeviceUnit &U) { return U.Id == Id; });
    if (Unit == Result.Units.end())
      Unit = Result.Units.insert(
          Unit, {Name.str(),
                 Id.str(),
                 realPath(Path),
                 Member ? Member->getChildOffset() : 0,
                 Member ? Inclusion::IfItFits : Inclusion::Always,
                 {}});
    Unit->Images.push_back(
        {Binary.getArch().str(), Binary.getString(PtxKey) == "1",
         MemoryBuffer::getMemBufferCopy(Binary.getImage(), Name)});
  }
  return Error::success();
}

} // namespace

Expected<std::unique_ptr<MemoryBuffer>> readFile(StringRef Path) {
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!File)
    return createStringError("cannot read '" + Path +
                             "': " + File.getError().message());
  return std::move(*File);
}

Expected<MemoryBufferRef> contentOf(const Archive::Child &Member) {
  // Those of thin archives are files of their own.
  Expected<MemoryBufferRef> Content = Member.getMemoryBufferRef();
  const Archive &All = *Member.getParent();
  // LLVM believes the size that the last member's header says.
  if (Content && !All.isThin() &&
      Content->getBufferEnd() > All.getMemoryBufferRef().getBufferEnd())
    return createStringError("member '" + Content->getBufferIdentifier() +
                             "' goes past the end of the archive");
  return Content;
}

Expected<DeviceCode> readDeviceCode(StringRef Path) {
  Expected<std::unique_ptr<MemoryBuffer>> File = readFile(Path);
  if (!File)
    return File.takeError();
  Reader Reading(Path);
  if (Error Failed = Reading.file(**File))
    return createStringError("cannot read the device code of '" + Path +
                             "': " + toString(std::move(Failed)));
  return std::move(Reading.Result);
}

std::string realPath(StringRef Path) {
  SmallString<256> Real;
  return sys::fs::real_path(Path, Real) ? Path.str() : std::string(Real);
}

Expected<std::vector<DeviceUnit>> readUnits(ArrayRef<std::string> Paths) {
  std::vector<DeviceUnit> Units;
  StringSet<> Linked, Seen;
  for (const std::string &Path : Paths) {
    Expected<DeviceCode> Code = readDeviceCode(Path);
    if (!Code)
      return Code.takeError();
    for (DeviceUnit &Unit : Code->Units)
      if (Seen.insert(Unit.Id).second)
        Units.push_back(std::move(Unit));
    for (const std::string &Id : Code->Linked)
      Linked.insert(Id);
  }
  erase_if(Units,
           [&](const DeviceUnit &Unit) { return Linked.contains(Unit.Id); });
  return Units;
}

} // namespace dragon::devicelink
