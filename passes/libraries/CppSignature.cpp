//===- CppSignature.cpp - C++ functions by their mangled name -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/libraries/CppSignature.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace dragon {

/// "a<b, c>, d" -> a<b, c> and d.
static std::vector<std::string> splitList(StringRef List) {
  std::vector<std::string> Result;
  int Depth = 0;
  size_t Begin = 0;
  for (size_t I = 0; I <= List.size(); ++I) {
    char C = I < List.size() ? List[I] : ',';
    Depth += C == '<' || C == '(';
    Depth -= C == '>' || C == ')';
    if (C != ',' || (Depth > 0 && I < List.size()))
      continue;
    Result.push_back(List.slice(Begin, I).trim().str());
    Begin = I + 1;
  }
  return Result;
}

SmallVector<StringRef, 4> nameComponents(StringRef Name) {
  SmallVector<StringRef, 4> Result;
  int Depth = 0;
  size_t Begin = 0;
  auto Cut = [&](size_t End) {
    Result.push_back(Name.slice(Begin, End).split('<').first);
  };
  for (size_t I = 0; I < Name.size(); ++I) {
    Depth += Name[I] == '<';
    Depth -= Name[I] == '>';
    if (Depth == 0 && Name.substr(I).starts_with("::")) {
      Cut(I);
      Begin = I + 2;
      ++I;
    }
  }
  Cut(Name.size());
  return Result;
}

std::optional<CppSignature> cppSignature(StringRef Symbol) {
  ItaniumPartialDemangler Parts;
  std::string Mangled = Symbol.str();
  if (!Symbol.starts_with("_Z") || Parts.partialDemangle(Mangled.c_str()) ||
      !Parts.isFunction())
    return std::nullopt;
  auto Take = [](char *Text) {
    std::string Result = Text ? Text : "";
    std::free(Text);
    return Result;
  };
  CppSignature Result;
  std::string Context =
      Take(Parts.getFunctionDeclContextName(nullptr, nullptr));
  std::string Base = Take(Parts.getFunctionBaseName(nullptr, nullptr));
  Result.Name = Context.empty() ? Base : Context + "::" + Base;
  std::string Whole = Take(Parts.getFunctionName(nullptr, nullptr));
  StringRef Arguments = Whole;
  if (Arguments.consume_front(Result.Name) && Arguments.consume_front("<") &&
      Arguments.consume_back(">"))
    Result.TemplateArguments = splitList(Arguments);
  std::string Parameters = Take(Parts.getFunctionParameters(nullptr, nullptr));
  StringRef List = Parameters;
  if (List.consume_front("(") && List.consume_back(")") && !List.empty() &&
      List != "void")
    Result.Parameters = splitList(List);
  return Result;
}

std::optional<int64_t> sizeOfType(StringRef Name) {
  Name = Name.trim();
  while (Name.consume_back(" const"))
    Name = Name.trim();
  if (Name.ends_with("*"))
    return 8;
  return StringSwitch<std::optional<int64_t>>(Name)
      .Cases({"char", "signed char", "unsigned char", "bool"}, 1)
      .Cases({"short", "unsigned short", "__half", "__nv_bfloat16"}, 2)
      .Cases({"int", "unsigned int", "float"}, 4)
      .Cases({"long", "unsigned long", "long long", "unsigned long long"}, 8)
      .Case("double", 8)
      .Default(std::nullopt);
}

std::optional<int64_t> pointeeSize(StringRef Name) {
  Name = Name.trim();
  return Name.consume_back("*") ? sizeOfType(Name) : std::nullopt;
}

bool matchesQualifiedName(StringRef Name, StringRef Pattern) {
  SmallVector<StringRef, 4> Have = nameComponents(Name);
  SmallVector<StringRef, 4> Want = nameComponents(Pattern);
  if (Have.size() < Want.size() || Have.front() != Want.front() ||
      Have.back() != Want.back())
    return false;
  size_t Next = 0;
  for (StringRef Component : Have)
    if (Next < Want.size() && Component == Want[Next])
      ++Next;
  return Next == Want.size();
}

} // namespace dragon
