//===- ClangOptions.cpp - the options of clang's own table ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/OptionReader.h"
#include "tools/dragon-cc/Strings.h"

#include "clang/Options/Options.h"

using namespace llvm;
using namespace llvm::opt;

namespace dragon::driver {

namespace {

namespace clangopt = clang::options;

/// What the driver has to know itself. True: nobody else needs to hear of it.
bool readForDriver(const Arg &One, ArrayRef<std::string> Texts,
                   Invocation &Asked) {
  switch (One.getOption().getID()) {
  case clangopt::OPT_fsave_optimization_record:
    Asked.OptRecord = true;
    return true;
  case clangopt::OPT_fsave_optimization_record_EQ:
    Asked.OptRecord = true;
    Asked.OptRecordExt = One.getValue();
    return true;
  case clangopt::OPT_fno_save_optimization_record:
    Asked.OptRecord = false;
    return true;
  case clangopt::OPT_foptimization_record_file_EQ:
    Asked.OptRecord = true;
    Asked.OptRecordFile = One.getValue();
    return true;
  case clangopt::OPT_flto:
  case clangopt::OPT_flto_EQ:
    Asked.WholeProgram = true;
    return false; // the link is told as well
  case clangopt::OPT_fno_lto:
    Asked.WholeProgram = false;
    Asked.NoWholeProgram = true;
    return false;
  case clangopt::OPT_fgpu_rdc:
  case clangopt::OPT_fno_gpu_rdc:
    Asked.Relocatable = One.getOption().getID() == clangopt::OPT_fgpu_rdc;
    return true;
  case clangopt::OPT_Rpass_EQ:
  case clangopt::OPT_Rpass_missed_EQ:
  case clangopt::OPT_Rpass_analysis_EQ:
    Asked.Remarks = true;
    append(Asked.CompileArgs, Texts);
    return true;
  case clangopt::OPT_mllvm:
    if (StringRef(One.getValue()).starts_with("-dragon-")) {
      Asked.PluginArgs.push_back(One.getValue());
      return true;
    }
    append(Asked.CompileArgs, Texts);
    return true;
  case clangopt::OPT_Xclang:
  case clangopt::OPT_fpass_plugin_EQ:
    append(Asked.CompileArgs, Texts);
    return true;
  default:
    return false;
  }
}

} // namespace

Error OptionReader::xcompiler(StringRef Value, StringRef Option) {
  std::vector<std::string> Words = splitList(Value);
  SmallVector<const char *, 8> Pointers;
  for (const std::string &Word : Words)
    Pointers.push_back(Word.c_str());
  InputArgList List(Pointers.begin(), Pointers.end());
  for (unsigned Index = 0; Index < Pointers.size();) {
    StringRef Text = Pointers[Index];
    std::unique_ptr<Arg> Parsed = clang::getDriverOptTable().ParseOneArg(
        List, Index, Visibility(clangopt::ClangOption));
    if (!Parsed)
      return error("argument to '" + Text + "' is missing in '" + Option + "'");
    if (Parsed->getOption().getKind() == Option::UnknownClass)
      return error("unknown host compiler option '" + Text + "' in '" + Option +
                   "' (the host compiler is clang)");
    if (Parsed->getOption().getKind() == Option::InputClass) {
      if (Error Failed = input(Text))
        return Failed;
      continue;
    }
    // Build systems ask for the host compiler's version so.
    if (isQuestion(Text)) {
      Result.Questions.push_back(Text.str());
      continue;
    }
    if (Error Failed = readClang(*Parsed, List, /*HostOnly=*/true))
      return Failed;
  }
  return Error::success();
}

bool OptionReader::isQuestion(StringRef Option) {
  return Option == "--version" || Option.starts_with("-print-") ||
         Option.starts_with("--print-") || Option.starts_with("-dump");
}

Error OptionReader::readClang(const Arg &One, const ArgList &List,
                              bool HostOnly) {
  const Option &Opt = One.getOption();
  ArgStringList Rendered;
  One.render(List, Rendered);
  std::vector<std::string> Texts(Rendered.begin(), Rendered.end());

  if (Opt.hasFlag(clangopt::LinkerInput)) {
    for (const std::string &Text : Texts)
      addLink(Text);
    return Error::success();
  }
  if (Opt.hasFlag(clangopt::LinkOption)) {
    append(Result.LinkArgs, Texts);
    return Error::success();
  }

  if (readForDriver(One, Texts, Result))
    return Error::success();
  if (Opt.matches(clangopt::OPT_O_Group)) {
    Result.OptLevel = StringRef(Texts[0]).drop_front(2).str();
    if (Result.OptLevel.empty())
      Result.OptLevel = "1";
    return Error::success();
  }
  if (Opt.matches(clangopt::OPT_g_Group))
    Result.Debug = true;
  if (Opt.matches(clangopt::OPT_I_Group)) {
    append(Result.CompileArgs, Texts);
    return Error::success();
  }
  if (!Opt.matches(clangopt::OPT_W_Group))
    append(Result.LinkArgs, Texts);
  if (HostOnly && Texts.size() == 1 && !Opt.hasFlag(clangopt::NoXarchOption))
    append(Result.HostArgs, Texts);
  else
    append(Result.CompileArgs, Texts);
  return Error::success();
}

} // namespace dragon::driver
