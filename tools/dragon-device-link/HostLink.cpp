//===- HostLink.cpp - what the host's linker takes of archives ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-device-link/HostLink.h"

#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/SymbolicFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::object;

namespace dragon::devicelink {

static bool isObject(MemoryBufferRef Buffer) {
  file_magic Magic = identify_magic(Buffer.getBuffer());
  return Magic == file_magic::elf_relocatable || Magic == file_magic::bitcode;
}

Error HostLink::add(const std::string &Path, bool Whole) {
  Expected<std::unique_ptr<MemoryBuffer>> File = readFile(Path);
  if (!File)
    return File.takeError();
  MemoryBufferRef Buffer = **File;
  Buffers.push_back(std::move(*File));
  if (isObject(Buffer))
    return read(Buffer);
  if (identify_magic(Buffer.getBuffer()) != file_magic::archive)
    return Error::success();

  Expected<std::unique_ptr<Archive>> Index = Archive::create(Buffer);
  if (!Index)
    return Index.takeError();
  Archives.push_back(std::move(*Index));
  Archive &Members = *Archives.back();
  std::string Name = realPath(Path);
  if (Whole) {
    Error Failed = Error::success();
    for (const Archive::Child &Child : Members.children(Failed))
      if (Error Bad = take(Name, Child))
        return joinErrors(std::move(Failed), std::move(Bad));
    return Failed;
  }
  if (!Members.hasSymbolTable())
    return Error::success();
  for (const Archive::Symbol &Symbol : Members.symbols()) {
    Expected<Archive::Child> Child = Symbol.getMember();
    if (!Child)
      return Child.takeError();
    Offered.try_emplace(Symbol.getName(), Name, *Child);
  }
  return Error::success();
}

Error HostLink::take(const std::string &File, const Archive::Child &Child) {
  if (!Taken.insert({File, Child.getChildOffset()}).second)
    return Error::success();
  Expected<MemoryBufferRef> Content = contentOf(Child);
  if (!Content)
    return Content.takeError();
  return isObject(*Content) ? read(*Content) : Error::success();
}

Error HostLink::read(MemoryBufferRef Object) {
  Expected<std::unique_ptr<SymbolicFile>> File =
      SymbolicFile::createSymbolicFile(
          Object, identify_magic(Object.getBuffer()), &Context);
  if (!File)
    return File.takeError();
  for (const BasicSymbolRef &Symbol : (*File)->symbols()) {
    Expected<uint32_t> Flags = Symbol.getFlags();
    if (!Flags)
      return Flags.takeError();
    if (!(*Flags & (BasicSymbolRef::SF_Global | BasicSymbolRef::SF_Undefined)))
      continue;
    std::string Name;
    raw_string_ostream Out(Name);
    if (Error Failed = Symbol.printName(Out))
      return Failed;
    if (!(*Flags & BasicSymbolRef::SF_Undefined))
      Defined.insert(Name);
    else if (!(*Flags & BasicSymbolRef::SF_Weak))
      Pending.push_back(Name);
  }
  return Error::success();
}

Error HostLink::resolve() {
  while (!Pending.empty()) {
    std::string Name = std::move(Pending.back());
    Pending.pop_back();
    if (Defined.contains(Name))
      continue;
    auto Offer = Offered.find(Name);
    if (Offer == Offered.end())
      continue;
    if (Error Failed = take(Offer->second.first, Offer->second.second))
      return Failed;
  }
  return Error::success();
}

} // namespace dragon::devicelink
