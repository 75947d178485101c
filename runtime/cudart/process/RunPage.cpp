//===- RunPage.cpp - the page that a run makes of itself ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The child has the descriptors of the trace and of the statistics, and the end
// of a pipe: the other end tells that it is gone, also where the program reaps
// all its children or ignores SIGCHLD.
//
// Sources: posix_spawn(3), pipe(7), proc(5).
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/RunPage.h"

#include "runtime/core/Runtime.h"
#include "runtime/cudart/process/LibcCalls.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <vector>

namespace dragon {

namespace {

namespace fs = std::filesystem;

/// Never destroyed: the page is made behind static objects.
struct Wanted {
  std::mutex lock; ///< for the programs
  std::vector<std::string> programs;
  std::string tool; ///< empty: there will be no page
  std::string page;
  std::vector<std::string> environment;
  std::atomic<bool> begun{false};
};
Wanted &wanted() {
  static Wanted *instance = new Wanted;
  return *instance;
}

bool isProgram(const fs::path &path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// `searched`: where it is not.
std::string findTool(std::string &searched) {
  constexpr const char *Name = "dragon-report";
  std::vector<fs::path> folders;
  Dl_info here{};
  std::error_code error;
  if (::dladdr(reinterpret_cast<void *>(&findTool), &here) && here.dli_fname) {
    // lib or lib/x86_64-linux-gnu
    const fs::path library = fs::canonical(here.dli_fname, error).parent_path();
    for (const fs::path &prefix :
         {library.parent_path(), library.parent_path().parent_path()})
      folders.push_back(prefix / "bin");
  }
  searched = folders.empty()
                 ? "PATH"
                 : fmt::format("'{}' and PATH", (folders[0] / Name).string());
  const char *path = ::secure_getenv("PATH");
  for (std::string_view rest = path ? path : ""; !rest.empty();) {
    const size_t colon = rest.find(':');
    if (colon != 0)
      folders.emplace_back(rest.substr(0, colon));
    rest = colon == rest.npos ? "" : rest.substr(colon + 1);
  }
  for (const fs::path &folder : folders)
    if (isProgram(folder / Name))
      return folder / Name;
  return "";
}

/// What the child's own programs would take for theirs is left out.
std::vector<std::string> environmentOfChild() {
  std::vector<std::string> kept;
  for (char **entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("DRAGON_") && !text.starts_with("LD_PRELOAD="))
      kept.emplace_back(text);
  }
  return kept;
}

std::vector<char *> pointers(std::vector<std::string> &texts) {
  std::vector<char *> all;
  for (std::string &text : texts)
    all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> commandLine(Wanted &run, const PageFiles &files) {
  std::vector<std::string> words = {run.tool, "-o", run.page};
  auto add = [&](const char *option, int file) {
    if (file >= 0)
      words.insert(words.end(), {option, fmt::format("/dev/fd/{}", file)});
  };
  add("--stats", files.stats);
  add("--trace", files.trace);
  // Who was interrupted while it loads a library will not give it back.
  if (std::unique_lock guard(run.lock, std::try_to_lock); guard)
    for (const std::string &program : run.programs)
      words.insert(words.end(), {"--program", program});
  return words;
}

/// 0 or an error number.
int spawn(Wanted &run, const PageFiles &files, int end, bool apart,
          pid_t &child) {
  std::vector<std::string> words = commandLine(run, files);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  // Who reads what the program prints does not wait for the page.
  if (run.page != "-")
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
                                     O_WRONLY, 0);
  // To itself: it is left open.
  for (int file : {files.stats, files.trace, end})
    if (file >= 0)
      posix_spawn_file_actions_adddup2(&actions, file, file);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(
      &attributes, short(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                         (apart ? POSIX_SPAWN_SETSID : 0)));
  const int code = DRAGON_REAL(posix_spawn)(&child, run.tool.c_str(), &actions,
                                            &attributes, pointers(words).data(),
                                            pointers(run.environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

/// False: it took longer.
bool waitForEnd(int file, std::optional<std::chrono::milliseconds> patience) {
  using Clock = std::chrono::steady_clock;
  const auto deadline =
      Clock::now() + patience.value_or(std::chrono::milliseconds{});
  for (;;) {
    int left = -1;
    if (patience)
      left = std::max(0, int(std::chrono::ceil<std::chrono::milliseconds>(
                                 deadline - Clock::now())
                                 .count()));
    pollfd one{file, POLLIN, 0};
    const int ready = ::poll(&one, 1, left);
    if (ready >= 0 || errno != EINTR)
      return ready != 0;
  }
}

} // namespace

void noteProgramOf(const void *module) {
  const char *page = ::secure_getenv("DRAGON_REPORT");
  if (!page || !*page)
    return;
  Dl_info info{};
  link_map *map = nullptr;
  if (!::dladdr1(module, &info, reinterpret_cast<void **>(&map),
                 RTLD_DL_LINKMAP) ||
      !map)
    return;
  // The executable has no name there.
  std::error_code error;
  const fs::path path = *map->l_name
                            ? fs::canonical(map->l_name, error)
                            : fs::read_symlink("/proc/self/exe", error);
  if (error)
    return;
  Wanted &run = wanted();
  const std::lock_guard guard(run.lock);
  if (std::find(run.programs.begin(), run.programs.end(), path.string()) ==
      run.programs.end())
    run.programs.push_back(path);
}

void prepareRunPage(const Settings &settings) {
  if (settings.report.empty())
    return;
  Wanted &run = wanted();
  run.page = settings.report;
  if (run.page != "-") {
    std::error_code error;
    const fs::path page = fs::absolute(run.page, error);
    const fs::path folder = page.parent_path();
    if (::access(folder.c_str(), W_OK) != 0) {
      detail::printLine(fmt::format(
          "DRAGON_REPORT='{}': no page, cannot write into folder '{}': {}",
          settings.report, folder.string(), std::strerror(errno)));
      return;
    }
    run.page = page; // the program may change its folder
  }
  std::string searched;
  run.tool = findTool(searched);
  if (run.tool.empty()) {
    detail::printLine(fmt::format(
        "DRAGON_REPORT='{}': no page, there is no dragon-report (looked for "
        "{}); "
        "install it, or use DRAGON_STATS=file and DRAGON_TRACE=file",
        settings.report, searched));
    return;
  }
  run.environment = environmentOfChild();
}

void makeRunPage(const Runtime &runtime,
                 std::optional<std::chrono::milliseconds> patience) {
  Wanted &run = wanted();
  if (run.tool.empty() || run.begun.exchange(true))
    return;
  const PageFiles files = runtime.pageFiles();
  int ends[2] = {-1, -1};
  pid_t child = 0;
  int code = 0;
  if (files.stats < 0 && files.trace < 0)
    return; // it has been said why
  // The program's handler would meet a child that is none of its own.
  struct sigaction standard{}, before{};
  standard.sa_handler = SIG_DFL;
  DRAGON_REAL(sigaction)(SIGCHLD, &standard, &before);
  if (::pipe2(ends, O_CLOEXEC) != 0)
    code = errno;
  else
    code = spawn(run, files, ends[1], patience.has_value(), child);
  if (code) {
    detail::printLine(fmt::format("DRAGON_REPORT: no page, cannot run '{}': {}",
                                  run.tool, std::strerror(code)));
  } else {
    ::close(ends[1]);
    int status = -1;
    const bool ended = waitForEnd(ends[0], patience);
    if (ended && ::waitpid(child, &status, 0) == child && status == 0 &&
        run.page != "-")
      notice("the page of this run is '{}'", run.page);
  }
  DRAGON_REAL(sigaction)(SIGCHLD, &before, nullptr);
}

} // namespace dragon
