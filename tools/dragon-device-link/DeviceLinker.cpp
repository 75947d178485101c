//===- DeviceLinker.cpp - device code of several units in one -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-device-link/DeviceLinker.h"

#include "tools/dragon-device-link/DeviceSymbols.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace llvm;

namespace dragon::devicelink {

/// A unit, and its module for each architecture.
struct DeviceLinker::Candidate {
  DeviceUnit Unit;
  bool Chosen = false;
  std::vector<std::unique_ptr<Module>> Modules;
  std::vector<DeviceSymbols> Symbols;

  /// Whether the host may see something of it.
  bool visible() const {
    return any_of(Symbols, [](const DeviceSymbols &S) { return S.Visible; });
  }
};

DeviceLinker::DeviceLinker(std::vector<DeviceUnit> Units,
                           std::vector<std::string> Archs)
    : Archs(std::move(Archs)) {
  for (DeviceUnit &Unit : Units) {
    Candidates.emplace_back();
    Candidates.back().Unit = std::move(Unit);
  }
}

DeviceLinker::~DeviceLinker() = default;

Error DeviceLinker::parse() {
  for (Candidate &One : Candidates)
    for (const std::string &Arch : Archs) {
      const DeviceImage *Image = One.Unit.image(Arch);
      if (!Image) {
        SmallVector<StringRef, 4> Has;
        for (const DeviceImage &Other : One.Unit.Images)
          Has.push_back(Other.Arch);
        return createStringError(
            "'" + One.Unit.Name + "' has no device code for " + Arch +
            " (it has " + join(Has, ", ") +
            "); compile it again, or link with -arch=" + Has.front());
      }
      Expected<std::unique_ptr<Module>> Parsed =
          parseBitcodeFile(*Image->Bitcode, Context);
      if (!Parsed)
        return createStringError(
            "the device code of '" + One.Unit.Name +
            "' is damaged: " + toString(Parsed.takeError()));
      One.Symbols.push_back(prepareUnit(**Parsed));
      One.Modules.push_back(std::move(*Parsed));
    }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Which units
//===----------------------------------------------------------------------===//

/// Symbols are those of one architecture each.
class DeviceLinker::Resolution {
public:
  explicit Resolution(DeviceLinker &Link) {
    for (size_t A = 0; A < Link.Archs.size(); ++A)
      Tables.emplace_back();
    for (Candidate &One : Link.Candidates)
      for (size_t A = 0; A < Tables.size(); ++A)
        for (const auto *Names : {&One.Symbols[A].Strong, &One.Symbols[A].Weak})
          for (const std::string &Name : *Names)
            Tables[A].Offered.try_emplace(Name, &One);
  }

  /// Takes a unit and what it needs from archives.
  void take(Candidate &Root);
  /// The same, or nothing, if it does not fit to what has been taken.
  void tryToTake(Candidate &Root);
  Error errors() const;

private:
  struct Table {
    StringMap<Candidate *> Offered; ///< the first unit that defines it
    StringMap<Candidate *> Strong;
    StringSet<> Defined; ///< by units that have been taken
  };
  /// Who refers to or defines a symbol in vain.
  using Complaints = std::map<std::string, std::vector<Candidate *>>;

  void add(Candidate &One);

  std::vector<Table> Tables;
  Complaints Undefined, Duplicate;
  // What has been taken, in order, for tryToTake() to undo.
  std::vector<Candidate *> Chosen;
  std::vector<std::pair<size_t, std::string>> NewDefined, NewStrong;
};

void DeviceLinker::Resolution::add(Candidate &One) {
  One.Chosen = true;
  Chosen.push_back(&One);
  for (size_t A = 0; A < Tables.size(); ++A) {
    const DeviceSymbols &Symbols = One.Symbols[A];
    auto Define = [&](const std::string &Name) {
      if (Tables[A].Defined.insert(Name).second)
        NewDefined.emplace_back(A, Name);
    };
    for (const std::string &Name : Symbols.Strong) {
      auto [Entry, New] = Tables[A].Strong.try_emplace(Name, &One);
      if (New)
        NewStrong.emplace_back(A, Name);
      else
        Duplicate[Name] = {Entry->second, &One};
      Define(Name);
    }
    for (const std::string &Name : Symbols.Weak)
      Define(Name);
  }
}

void DeviceLinker::Resolution::take(Candidate &Root) {
  if (Root.Chosen)
    return;
  SmallVector<Candidate *, 8> Pending = {&Root};
  add(Root);
  while (!Pending.empty()) {
    Candidate &One = *Pending.pop_back_val();
    for (size_t A = 0; A < Tables.size(); ++A) {
      auto Need = [&](const std::string &Name, bool Must) {
        if (Tables[A].Defined.contains(Name))
          return;
        if (Candidate *Other = Tables[A].Offered.lookup(Name)) {
          // Units outside archives are roots themselves.
          if (Other->Unit.Include != Inclusion::Always && !Other->Chosen) {
            add(*Other);
            Pending.push_back(Other);
          }
        } else if (Must && !is_contained(Undefined[Name], &One)) {
          Undefined[Name].push_back(&One);
        }
      };
      for (const std::string &Name : One.Symbols[A].Needed)
        Need(Name, /*Must=*/true);
      for (const std::string &Name : One.Symbols[A].Wanted)
        Need(Name, /*Must=*/false);
    }
  }
}

void DeviceLinker::Resolution::tryToTake(Candidate &Root) {
  if (Root.Chosen)
    return;
  size_t ChosenBefore = Chosen.size(), DefinedBefore = NewDefined.size(),
         StrongBefore = NewStrong.size();
  Complaints UndefinedBefore = Undefined, DuplicateBefore = Duplicate;
  take(Root);
  if (Undefined.size() == UndefinedBefore.size() &&
      Duplicate.size() == DuplicateBefore.size())
    return;
  Undefined = std::move(UndefinedBefore);
  Duplicate = std::move(DuplicateBefore);
  for (; Chosen.size() > ChosenBefore; Chosen.pop_back())
    Chosen.back()->Chosen = false;
  for (; NewDefined.size() > DefinedBefore; NewDefined.pop_back())
    Tables[NewDefined.back().first].Defined.erase(NewDefined.back().second);
  for (; NewStrong.size() > StrongBefore; NewStrong.pop_back())
    Tables[NewStrong.back().first].Strong.erase(NewStrong.back().second);
}

Error DeviceLinker::Resolution::errors() const {
  std::string Text;
  auto Line = [&](const Twine &Message) {
    Text += (Text.empty() ? "" : "\n") + Message.str();
  };
  for (const auto &[Name, Users] : Undefined)
    Line("undefined device symbol " + symbolName(Name) + ", referred to in '" +
         Users.front()->Unit.Name + "'");
  for (const auto &[Name, Owners] : Duplicate)
    Line("device symbol " + symbolName(Name) + " is defined in '" +
         Owners.front()->Unit.Name + "' and in '" + Owners.back()->Unit.Name +
         "'");
  return Text.empty() ? Error::success() : createStringError(Text);
}

Error DeviceLinker::resolve() {
  if (Error Failed = parse())
    return Failed;
  Resolution Resolve(*this);
  for (Candidate &One : Candidates)
    if (One.Unit.Include == Inclusion::Always)
      Resolve.take(One);
  for (Candidate &One : Candidates)
    if (One.Unit.Include == Inclusion::IfItFits && One.visible())
      Resolve.tryToTake(One);
  return Resolve.errors();
}

std::vector<std::string> DeviceLinker::registered() const {
  std::vector<std::string> Ids;
  for (const Candidate &One : Candidates)
    if (One.Chosen ||
        (One.Unit.Include == Inclusion::IfItFits && !One.visible()))
      Ids.push_back(One.Unit.Id);
  return Ids;
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Module>> DeviceLinker::link(StringRef Arch) {
  size_t A = find(Archs, Arch) - Archs.begin();
  auto Result = std::make_unique<Module>("device-link", Context);
  Result->setTargetTriple(Triple("nvptx64-nvidia-cuda"));
  std::string Messages;
  Context.setDiagnosticHandlerCallBack(
      [](const DiagnosticInfo *Info, void *Text) {
        if (Info->getSeverity() != DS_Error)
          return;
        raw_string_ostream Out(*static_cast<std::string *>(Text));
        DiagnosticPrinterRawOStream Printer(Out);
        Out << ": ";
        Info->print(Printer);
      },
      &Messages);
  Linker Linking(*Result);
  SharedMemory Shared;
  for (Candidate &One : Candidates) {
    if (!One.Chosen)
      continue;
    if (Result->getDataLayout().isDefault())
      Result->setDataLayout(One.Modules[A]->getDataLayout());
    Shared.add(*One.Modules[A]);
    if (Linking.linkInModule(std::move(One.Modules[A])))
      return createStringError("cannot link the device code of '" +
                               One.Unit.Name + "'" + Messages);
  }
  Shared.apply(*Result);
  closeProgram(*Result);
  raw_string_ostream Out(Messages);
  if (verifyModule(*Result, &Out))
    return createStringError("internal error: the linked device code is not "
                             "well formed: " +
                             Messages);
  return std::move(Result);
}

} // namespace dragon::devicelink
