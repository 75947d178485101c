//===- LibrarySummaries.cpp - what library functions do to buffers --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/libraries/LibrarySummaries.h"

#include "passes/libraries/CppSignature.h"
#include "passes/libraries/LibraryFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon {

Error LibrarySummaries::add(MemoryBufferRef Buffer) {
  Expected<LibraryFile> File = readLibraryFile(Buffer);
  if (!File)
    return File.takeError();
  for (const std::string &Prefix : File->Prefixes)
    Prefixes.emplace_back(Prefix, File->Library);
  // A function that the file describes replaces what earlier files say of it.
  for (const std::string &Name : File->Describing) {
    BySymbol.erase(Name);
    Describing[Name] = File->Library;
  }
  std::map<std::string, Functions> Qualified;
  for (LibraryFunction &F : File->Functions) {
    std::string Name = F.Name;
    if (StringRef(Name).contains("::"))
      Qualified[Name].push_back(std::move(F));
    else {
      Describing.erase(Name);
      BySymbol[Name] = std::move(F);
    }
  }
  for (auto &[Name, Overloads] : Qualified) {
    Functions &Known = ByQualifiedName[nameComponents(Name).back().str()];
    erase_if(Known, [&, &Replaced = Name](const LibraryFunction &Old) {
      return Old.Name == Replaced;
    });
    for (LibraryFunction &F : Overloads)
      Known.push_back(std::move(F));
  }
  return Error::success();
}

Expected<LibrarySummaries> LibrarySummaries::read(ArrayRef<std::string> Paths) {
  LibrarySummaries Result;
  for (const std::string &Path : Paths) {
    auto File = MemoryBuffer::getFile(Path, /*IsText=*/true);
    if (!File)
      return createStringError(File.getError(),
                               "cannot read the library summaries '" + Path +
                                   "': " + File.getError().message());
    if (Error Failed = Result.add(**File))
      return std::move(Failed);
  }
  return std::move(Result);
}

/// Overloads differ in the number of their parameters, and in whether the
/// parameters that are used are pointers: a summary is not of an overload that
/// takes a reference, or a class that holds more than one pointer.
static bool takesPointers(const LibraryFunction &F, const CppSignature &Of) {
  if (F.Parameters.size() != Of.Parameters.size())
    return false;
  return all_of(F.Uses, [&](const LibraryUse &Use) {
    StringRef Type = Of.Parameters[Use.Parameter];
    while (Type.consume_back(" const"))
      ;
    if (Type.ends_with("*"))
      return true;
    if (!F.Iterators || Type.ends_with("&") || !Type.starts_with("thrust::"))
      return false;
    StringRef Class = nameComponents(Type).back();
    return Class == "device_ptr" || Class == "normal_iterator" ||
           Class == "pointer";
  });
}

const LibraryFunction *LibrarySummaries::find(StringRef Symbol,
                                              unsigned NumArguments) const {
  auto Fits = [&](const LibraryFunction &F) {
    return F.Neutral || F.Parameters.size() == NumArguments;
  };
  if (auto It = BySymbol.find(Symbol); It != BySymbol.end())
    return Fits(It->second) ? &It->second : nullptr;
  if (ByQualifiedName.empty() || !Symbol.starts_with("_Z"))
    return nullptr;
  auto [Known, New] = Instances.try_emplace(Symbol);
  if (New)
    Known->second = instance(Symbol);
  // Each parameter is one argument: none is empty or in several pieces.
  return Known->second && Fits(*Known->second) ? &*Known->second : nullptr;
}

std::optional<LibraryFunction>
LibrarySummaries::instance(StringRef Symbol) const {
  std::optional<CppSignature> Of = cppSignature(Symbol);
  if (!Of)
    return std::nullopt;
  auto It = ByQualifiedName.find(nameComponents(Of->Name).back().str());
  if (It == ByQualifiedName.end())
    return std::nullopt;
  for (const LibraryFunction &F : It->second) {
    if (!matchesQualifiedName(Of->Name, F.Name) ||
        (!F.Neutral && !takesPointers(F, *Of)))
      continue;
    LibraryFunction Result = F;
    Result.resolve([&](const LibraryExpression::Node &N) {
      auto Index = static_cast<size_t>(N.Value);
      bool IsType = N.Kind == LibraryExpression::Op::TypeSize;
      if ((!IsType && N.Kind != LibraryExpression::Op::PointeeSize) ||
          Index >= Of->TemplateArguments.size())
        return std::optional<int64_t>();
      const std::string &Type = Of->TemplateArguments[Index];
      return IsType ? sizeOfType(Type) : pointeeSize(Type);
    });
    return Result;
  }
  return std::nullopt;
}

void LibrarySummaries::visit(
    function_ref<void(const LibraryFunction &)> See) const {
  for (const auto &Entry : BySymbol)
    See(Entry.second);
  for (const auto &[Name, Overloads] : ByQualifiedName)
    for (const LibraryFunction &F : Overloads)
      See(F);
}

std::vector<StringRef> LibrarySummaries::prefixes() const {
  std::vector<StringRef> Result;
  Result.reserve(Prefixes.size());
  for (const auto &[Prefix, Library] : Prefixes)
    Result.push_back(Prefix);
  return Result;
}

std::vector<StringRef> LibrarySummaries::describing() const {
  return {Describing.keys().begin(), Describing.keys().end()};
}

void LibrarySummaries::print(raw_ostream &To) const {
  std::vector<std::string> Lines;
  auto Add = [&](const LibraryFunction &F) {
    Lines.push_back(F.Library + ": " + F.Name + "(" +
                    (F.Neutral ? "..." : join(F.Parameters, ", ")) + ")");
  };
  visit(Add);
  for (const auto &[Name, Library] : Describing)
    Lines.push_back(Library + ": " + Name.str() + "(...)");
  llvm::sort(Lines);
  for (const std::string &Line : Lines)
    To << Line << '\n';
}

StringRef LibrarySummaries::libraryOf(StringRef Symbol) const {
  for (const auto &[Prefix, Library] : Prefixes)
    if (Symbol.starts_with(Prefix))
      return Library;
  return "";
}

} // namespace dragon
