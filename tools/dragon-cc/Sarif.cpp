//===- Sarif.cpp - remarks as SARIF, for editors and reviews --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/Sarif.h"

#include "tools/dragon-cc/Config.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Remarks/Remark.h"
#include "llvm/Remarks/RemarkParser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <set>
#include <tuple>

using namespace llvm;

namespace dragon::driver {

namespace {

struct Rule {
  StringLiteral Id, Kind, Wording;
};
constexpr Rule Rules[] = {
#define REMARK(ID, KIND, WORDING) {#ID, #KIND, WORDING},
#include "passes/Remarks.def"
};

/// Of a file, line and column, a rule and a message: what is told once.
using Key = std::tuple<std::string, unsigned, unsigned, unsigned, std::string>;

/// The text that clang prints: arguments that the wording does not mention are
/// in the record alone.
std::string message(const remarks::Remark &One, StringRef Wording,
                    remarks::Format Format) {
  std::string Text;
  for (const remarks::Argument &Arg : One.Args)
    if (Arg.Key == "String" || Wording.contains(("{" + Arg.Key + "}").str()))
      Text += Arg.Val;
  // The parser leaves a quote as YAML writes it in quoted text: twice.
  if (Format == remarks::Format::YAML)
    for (size_t At = 0; (At = Text.find("''", At)) != std::string::npos; ++At)
      Text.erase(At, 1);
  return Text;
}

/// Of an absolute path, clang puts what it has in common with the current
/// folder into a directory of its own, which records do not have: the rest is
/// relative to a folder above.
std::string resolved(StringRef File) {
  SmallString<256> Above;
  if (sys::path::is_absolute(File) || sys::fs::exists(File) ||
      sys::fs::current_path(Above))
    return File.str();
  while (sys::path::has_relative_path(Above)) {
    sys::path::remove_filename(Above);
    SmallString<256> Path(Above);
    sys::path::append(Path, File);
    if (sys::fs::exists(Path))
      return std::string(Path);
  }
  return File.str();
}

/// The records that a step writes: each option with a file's name.
void addRecords(const Step &One, StringSet<> &Files) {
  for (StringRef Arg : One.Args)
    for (StringRef Option :
         {"-foptimization-record-file=", "--plugin-opt=opt-remarks-filename=",
          "--remarks-output-file="})
      if (Arg.consume_front(Option))
        Files.insert(Arg);
}

Error readRecord(StringRef Path, std::set<Key> &Found) {
  auto File = MemoryBuffer::getFile(Path);
  if (!File) // a step without remarks may make none
    return Error::success();
  StringRef Text = (*File)->getBuffer();
  if (Text.trim().empty()) // so is that of one with nothing to say
    return Error::success();
  Expected<remarks::Format> Format = remarks::magicToFormat(Text);
  if (!Format) {
    consumeError(Format.takeError());
    Format = remarks::Format::YAML;
  }
  Expected<std::unique_ptr<remarks::RemarkParser>> Parser =
      remarks::createRemarkParser(*Format, Text);
  if (!Parser)
    return Parser.takeError();
  while (true) {
    Expected<std::unique_ptr<remarks::Remark>> One = (*Parser)->next();
    if (!One) {
      Error Left =
          handleErrors(One.takeError(), [](const remarks::EndOfFileError &) {});
      return Left;
    }
    const remarks::Remark &Remark = **One;
    if (Remark.PassName != "dragon")
      continue;
    const Rule *Known = find_if(
        Rules, [&](const Rule &R) { return R.Id == Remark.RemarkName; });
    if (Known == std::end(Rules))
      continue;
    std::string Source;
    unsigned Line = 0, Column = 0;
    if (Remark.Loc) {
      Source = resolved(Remark.Loc->SourceFilePath);
      Line = Remark.Loc->SourceLine;
      Column = Remark.Loc->SourceColumn;
    }
    Found.insert(Key(Source, Line, Column, Known - Rules,
                     message(Remark, Known->Wording, *Format)));
  }
}

/// A path as a URI: what is not plain in one is escaped.
std::string uri(StringRef Path) {
  std::string Result = sys::path::is_absolute(Path) ? "file://" : "";
  for (unsigned char C : Path)
    if (isAlnum(C) || StringRef("/-._~").contains(C))
      Result += C;
    else
      Result += "%" + toHex(StringRef(reinterpret_cast<char *>(&C), 1));
  return Result;
}

json::Array ruleObjects(StringRef Pages) {
  json::Array All;
  for (const Rule &One : Rules) {
    json::Object Object{
        {"id", One.Id},
        {"shortDescription", json::Object{{"text", One.Wording}}},
        {"defaultConfiguration",
         json::Object{{"level", One.Kind == "Missed" ? "warning" : "note"}}}};
    std::string Page = (Pages + "/" + One.Id + ".md").str();
    if (sys::fs::exists(Page))
      Object["helpUri"] = uri(Page);
    All.push_back(std::move(Object));
  }
  return All;
}

json::Object resultObject(const Key &One) {
  const auto &[File, Line, Column, Index, Text] = One;
  json::Object Result{
      {"ruleId", Rules[Index].Id},
      {"ruleIndex", Index},
      {"level", Rules[Index].Kind == "Missed" ? "warning" : "note"},
      {"message", json::Object{{"text", Text}}}};
  if (File.empty())
    return Result;
  json::Object Artifact{{"uri", uri(File)}};
  if (!sys::path::is_absolute(File))
    Artifact["uriBaseId"] = "SRCROOT";
  json::Object Place{{"artifactLocation", std::move(Artifact)}};
  if (Line) {
    json::Object Region{{"startLine", Line}};
    if (Column)
      Region["startColumn"] = Column;
    Place["region"] = std::move(Region);
  }
  Result["locations"] =
      json::Array{json::Object{{"physicalLocation", std::move(Place)}}};
  return Result;
}

json::Object document(const std::set<Key> &Found, StringRef Pages) {
  SmallString<256> Here;
  (void)sys::fs::current_path(Here);
  json::Array Results;
  for (const Key &One : Found)
    Results.push_back(resultObject(One));
  json::Object Driver{{"name", "dragon-cc"},
                      {"version", DRAGON_VERSION},
                      {"rules", ruleObjects(Pages)}};
  json::Object Run{
      {"tool", json::Object{{"driver", std::move(Driver)}}},
      {"columnKind", "utf16CodeUnits"},
      {"originalUriBaseIds",
       json::Object{{"SRCROOT", json::Object{{"uri", uri(Here) + "/"}}}}},
      {"results", std::move(Results)}};
  return json::Object{
      {"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/"
                  "sarif-schema-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", json::Array{std::move(Run)}}};
}

} // namespace

Error writeSarif(const Plan &Plan) {
  StringSet<> Files;
  for (const Step &One : Plan.Steps)
    addRecords(One, Files);
  std::set<Key> Found;
  for (const auto &File : Files)
    if (Error Failed = readRecord(File.getKey(), Found))
      return error("cannot read the optimisation record '" + File.getKey() +
                   "': " + toString(std::move(Failed)));
  json::Value Document = document(Found, Plan.RemarkPages);
  Error Failed = writeToOutput(Plan.Sarif, [&](raw_ostream &OS) {
    OS << formatv("{0:2}", Document) << '\n';
    return Error::success();
  });
  if (Failed)
    return error("cannot write '" + Plan.Sarif +
                 "' (from "
                 "--dragon-diagnostics): " +
                 toString(std::move(Failed)));
  return Error::success();
}

} // namespace dragon::driver
