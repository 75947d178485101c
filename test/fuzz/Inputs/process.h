// What random programs do with threads, other processes and signals, and what streams call. The same for the model, but for
// the types of callbacks.
#ifndef PROCESS_H
#define PROCESS_H
#include <condition_variable>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <future>
#include <mutex>
#include <pthread.h>
#include <spawn.h>
#include <string>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <thread>

extern "C" char **environ;
inline const char *inputPath = nullptr;

// Threads. ----------------------------------------------------------------------------------------------------------------

/// Whose turn it is.
class Baton {
public:
  void await(int whom) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return turn >= whom; });
  }
  void pass(int whom) {
    std::lock_guard<std::mutex> lock(mutex);
    turn = whom;
    changed.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
};

/// A thread as C starts one; std::thread and std::async take ten times as long to compile.
class Thread {
public:
  Thread() = default;
  template <class Body> Thread(const Body &body, int argument) {
    struct Work {
      Body body;
      int argument;
      static void *run(void *what) {
        Work *work = (Work *)what;
        work->body(work->argument);
        delete work;
        return nullptr;
      }
    };
    REQUIRE(pthread_create(&thread, nullptr, Work::run, new Work{body, argument}) == 0);
  }
  template <class Body> explicit Thread(const Body &body) : Thread([body](int) { body(); }, 0) {}
  void join() { REQUIRE(pthread_join(thread, nullptr) == 0); }
  void get() { join(); } // as of a future

private:
  pthread_t thread;
};

/// Of the calling thread, as servers do.
inline void blockSignals() {
  sigset_t all;
  sigfillset(&all);
  REQUIRE(pthread_sigmask(SIG_BLOCK, &all, nullptr) == 0);
}

// What streams call. ------------------------------------------------------------------------------------------------------

struct HostWork {
  uint32_t *data;
  long words;
  uint32_t by;
};
inline void CUDART_CB addOnHost(void *data) {
  HostWork *work = (HostWork *)data;
  for (long i = 0; i < work->words; ++i)
    work->data[i] += work->by + (uint32_t)i;
  delete work;
}
inline void CUDART_CB fillOnHost(void *data) {
  HostWork *work = (HostWork *)data;
  for (long i = 0; i < work->words; ++i)
    work->data[i] = scramble((uint32_t)i) + work->by;
  delete work;
}
inline void CUDART_CB addOnHostInCallback(cudaStream_t, cudaError_t status, void *data) {
  REQUIRE(status == cudaSuccess);
  addOnHost(data);
}
inline void CUDART_CB fillOnHostInCallback(cudaStream_t, cudaError_t status, void *data) {
  REQUIRE(status == cudaSuccess);
  fillOnHost(data);
}

// Processes. --------------------------------------------------------------------------------------------------------------

inline int waitForChild(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    REQUIRE(errno == EINTR);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}
template <class Body> int inChild(Body body) {
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0)
    _exit(body());
  return waitForChild(child);
}
inline size_t inputSize() {
  struct stat status;
  REQUIRE(stat(inputPath, &status) == 0);
  return (size_t)status.st_size;
}
inline uint32_t sumOfFile(size_t bytes) {
  static uint32_t words[1 << 16];
  int file = open(inputPath, O_RDONLY);
  uint32_t result = 0;
  for (size_t at = 0; at < bytes;) {
    ssize_t got = read(file, words, std::min(sizeof(words), bytes - at));
    if (got <= 0)
      return 126;
    result += sum(words, (size_t)got / 4);
    at += (size_t)got;
  }
  close(file);
  return result;
}
/// 0, or what went wrong; `from` and `bytes` within the file.
inline int overwrite(int file, size_t from, size_t bytes, uint32_t by) {
  static uint32_t words[1 << 14];
  for (uint32_t i = 0; i < sizeof(words) / 4; ++i)
    words[i] = scramble(i + by);
  for (size_t at = 0; at < bytes;) {
    ssize_t put = pwrite(file, words, std::min(sizeof(words), bytes - at), (off_t)(from + at));
    if (put <= 0)
      return 1;
    at += (size_t)put;
  }
  return close(file) == 0 ? 0 : 2;
}
inline int changeInput(size_t from, size_t bytes, uint32_t by) {
  size_t size = inputSize();
  from = std::min(from, size);
  return overwrite(open(inputPath, O_WRONLY), from, std::min(bytes, size - from), by);
}
inline int rewriteInput(uint32_t by) {
  size_t size = inputSize();
  return overwrite(open(inputPath, O_WRONLY | O_TRUNC), 0, size, by);
}
inline int replaceInput(uint32_t by) {
  std::string other = std::string(inputPath) + ".new";
  int failed = overwrite(open(other.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 0, inputSize(), by);
  return failed ? failed : rename(other.c_str(), inputPath) == 0 ? 0 : 3;
}

/// A command with the input's path and size in it.
inline std::string withInput(const char *format) {
  char text[1000];
  snprintf(text, sizeof(text), format, inputPath, inputSize());
  return text;
}
inline void runBySystem(const char *command) { REQUIRE(system(command) == 0); }
inline void runBySpawn(const char *command) {
  const char *arguments[] = {"sh", "-c", command, nullptr};
  pid_t child;
  REQUIRE(posix_spawn(&child, "/bin/sh", nullptr, nullptr, (char **)arguments, environ) == 0);
  REQUIRE(waitForChild(child) == 0);
}
inline void runByPopen(const char *command) {
  FILE *pipe = popen(command, "r");
  REQUIRE(pipe != nullptr);
  while (fgetc(pipe) != EOF)
    ;
  REQUIRE(pclose(pipe) == 0);
}
inline void runByExec(const char *command) {
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command, (char *)nullptr);
    _exit(127);
  }
  REQUIRE(waitForChild(child) == 0);
}

// Signals. ----------------------------------------------------------------------------------------------------------------

inline void unexpectedSignal(int) {
  static const char text[] = "the program's own handler was called\n";
  ssize_t written = write(2, text, sizeof(text) - 1);
  _exit(written > 0 ? 99 : 98);
}
inline struct sigaction ownHandler(int number) {
  struct sigaction action = {}, before = {};
  action.sa_handler = unexpectedSignal;
  sigemptyset(&action.sa_mask);
  REQUIRE(sigaction(number, &action, &before) == 0);
  return before;
}
inline uint32_t *changedAtSignal = nullptr;
inline long wordsAtSignal = 0;
inline void changeNow(int) {
  for (long i = 0; i < wordsAtSignal; ++i)
    changedAtSignal[i] = changedAtSignal[i] * 3 + 1;
}
inline void changeAtSignal(int number, uint32_t *words, long count) {
  changedAtSignal = words, wordsAtSignal = count;
  struct sigaction action = {};
  action.sa_handler = changeNow;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  REQUIRE(sigaction(number, &action, nullptr) == 0);
}

/// Signals every so many microseconds as long as it lives.
class Timer {
public:
  explicit Timer(int microseconds) {
    struct sigaction action = {};
    action.sa_handler = [](int) { seen = seen + 1; };
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    REQUIRE(sigaction(SIGALRM, &action, nullptr) == 0);
    set(microseconds);
  }
  ~Timer() { set(0); }

private:
  static void set(int microseconds) {
    itimerval often = {{0, microseconds}, {0, microseconds}};
    REQUIRE(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  }
  inline static volatile sig_atomic_t seen = 0;
};
#endif
