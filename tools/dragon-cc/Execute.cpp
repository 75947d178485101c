//===- Execute.cpp - runs the steps ---------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/Execute.h"

#include "tools/dragon-cc/MissingTemplates.h"
#include "tools/dragon-cc/Precompiled.h"
#include "tools/dragon-cc/Sarif.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

extern char **environ;

namespace dragon::driver {

namespace {

volatile sig_atomic_t RunningChild = 0;
volatile sig_atomic_t CaughtSignal = 0;

void onSignal(int Signal) {
  CaughtSignal = Signal;
  if (RunningChild > 0)
    kill(RunningChild, Signal);
}

/// Catches what ends a compiler, for as long as it lives.
class SignalGuard {
public:
  SignalGuard() {
    struct sigaction Action = {};
    Action.sa_handler = onSignal;
    sigemptyset(&Action.sa_mask);
    for (size_t I = 0; I < std::size(Signals); ++I) {
      sigaction(Signals[I], nullptr, &Old[I]);
      if (Old[I].sa_handler != SIG_IGN) // as under nohup
        sigaction(Signals[I], &Action, nullptr);
    }
  }
  ~SignalGuard() {
    for (size_t I = 0; I < std::size(Signals); ++I)
      sigaction(Signals[I], &Old[I], nullptr);
  }

private:
  static constexpr int Signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction Old[std::size(Signals)];
};

std::string errorText(int Code) { return std::strerror(Code); }

/// Runs a step; the exit status, or the reason why it could not start. Messages
/// go to the file, if one is given.
Expected<int> runStep(const Step &One, const char *Messages = nullptr) {
  std::string Program = One.Program;
  if (!StringRef(Program).contains('/')) {
    ErrorOr<std::string> Found = sys::findProgramByName(Program);
    if (!Found)
      return error("program '" + Program + "' not found in PATH");
    Program = *Found;
  }
  std::vector<char *> Argv = {Program.data()};
  for (const std::string &Arg : One.Args)
    Argv.push_back(const_cast<char *>(Arg.c_str()));
  Argv.push_back(nullptr);

  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  if (!One.Stdout.empty() && One.Stdout != "-")
    posix_spawn_file_actions_addopen(&Actions, STDOUT_FILENO,
                                     One.Stdout.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (Messages)
    posix_spawn_file_actions_addopen(&Actions, STDERR_FILENO, Messages,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t Child;
  int Failed = posix_spawn(&Child, Program.c_str(), &Actions, nullptr,
                           Argv.data(), environ);
  posix_spawn_file_actions_destroy(&Actions);
  if (Failed)
    return error("cannot run '" + Program + "': " + errorText(Failed));
  RunningChild = Child;
  if (CaughtSignal) // it came before there was somebody to tell
    kill(Child, CaughtSignal);
  int Status;
  while (waitpid(Child, &Status, 0) < 0)
    if (errno != EINTR)
      return error("cannot wait for '" + Program + "': " + errorText(errno));
  RunningChild = 0;
  if (WIFEXITED(Status))
    return WEXITSTATUS(Status);
  int Signal = WTERMSIG(Status);
  if (!CaughtSignal)
    WithColor::error(errs(), "dragon-cc")
        << "'" << Program << "' was ended by signal " << Signal << " ("
        << strsignal(Signal) << ")\n";
  return 128 + Signal;
}

/// Compiles from copies of sources, again if they want words. If that does not
/// help, what is said is said of the sources.
Expected<int> runCompleting(const Step &One, const Plan &Plan) {
  constexpr unsigned MostTimes = 20; // clang stops after 20 errors
  std::string Messages = Plan.Sources.front().second + ".messages";
  scope_exit Remove([&] { (void)sys::fs::remove(Messages); });
  std::string First;
  for (unsigned Time = 1;; ++Time) {
    Expected<int> Exit = runStep(One, Messages.c_str());
    auto Said = MemoryBuffer::getFile(Messages);
    StringRef Text = Said ? (*Said)->getBuffer() : "";
    if (Time == 1)
      First = Text.str();
    if (Exit && *Exit && !CaughtSignal && Time < MostTimes &&
        insertTemplates(Text, Plan.Sources))
      continue;
    errs() << (Exit && *Exit ? StringRef(First) : Text);
    return Exit;
  }
}

Step precompiled(const Step &One, bool Verbose) {
  return withPrecompiled(One, [&](const Step &Headers) {
    if (Verbose)
      print(errs(), Headers);
    Expected<int> Exit = runStep(Headers, "/dev/null");
    const bool Done = Exit && *Exit == 0;
    if (!Exit)
      consumeError(Exit.takeError());
    return Done;
  });
}

} // namespace

TempFolder TempFolder::imagined() {
  SmallString<128> Path;
  sys::fs::createUniquePath("dragon-cc-%%%%%%", Path, /*MakeAbsolute=*/true);
  return TempFolder(std::string(Path), false);
}

Expected<TempFolder> TempFolder::create() {
  SmallString<128> Path;
  if (std::error_code Code = sys::fs::createUniqueDirectory("dragon-cc", Path))
    return error("cannot make a temporary folder: " + Code.message() +
                 "; set TMPDIR to one that can be written");
  return TempFolder(std::string(Path), true);
}

Expected<TempFolder> TempFolder::kept(StringRef Path) {
  if (!Path.empty())
    if (std::error_code Code = sys::fs::create_directories(Path))
      return error("cannot make '" + Path +
                   "' (from -keep-dir): " + Code.message());
  return TempFolder(Path.str(), false);
}

TempFolder::TempFolder(TempFolder &&Other) noexcept
    : Path(std::move(Other.Path)), Owned(std::exchange(Other.Owned, false)) {}

TempFolder::~TempFolder() {
  if (Owned)
    (void)sys::fs::remove_directories(Path);
}

int execute(const Plan &Plan, bool Verbose, TempFolder Temp) {
  int Status = 0;
  {
    SignalGuard Guard;
    TempFolder Folder = std::move(Temp);
    for (const auto &File : Plan.Files)
      if (Error Failed = writeToOutput(File.first, [&File](raw_ostream &OS) {
            OS << File.second;
            return Error::success();
          })) {
        WithColor::error(errs(), "dragon-cc")
            << "cannot write '" << File.first
            << "': " << toString(std::move(Failed)) << '\n';
        return 1;
      }
    for (const Step &Planned : Plan.Steps) {
      const Step One =
          Planned.Precompiled ? precompiled(Planned, Verbose) : Planned;
      if (Verbose)
        print(errs(), One);
      Expected<int> Exit =
          !Plan.Sources.empty() && is_contained(One.Args, "cuda")
              ? runCompleting(One, Plan)
              : runStep(One);
      if (!Exit) {
        WithColor::error(errs(), "dragon-cc")
            << toString(Exit.takeError()) << '\n';
        Status = 1;
      } else {
        Status = *Exit;
      }
      if (Status || CaughtSignal) {
        for (const std::string &Output : One.Outputs)
          (void)sys::fs::remove(Output);
        break;
      }
    }
    if (!Status && !CaughtSignal && !Plan.Sarif.empty())
      if (Error Failed = writeSarif(Plan)) {
        WithColor::error(errs(), "dragon-cc")
            << toString(std::move(Failed)) << '\n';
        Status = 1;
      }
  }
  if (CaughtSignal)
    raise(CaughtSignal); // end as if nobody had caught it
  return Status;
}

} // namespace dragon::driver
