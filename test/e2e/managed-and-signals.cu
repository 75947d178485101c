// Managed memory in programs that handle, ignore or block SIGSEGV: accesses of it work, the program sees what it set, and
// signals that are not for the runtime do what Linux does with them.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program > plain.txt && %tight ./program > tight.txt && diff plain.txt tight.txt
// RUN: rm -rf %t.dir
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#include "e2e.h"

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <functional>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

constexpr size_t N = 3 << 20;

__global__ void pattern(unsigned char *data, size_t n, unsigned seed) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = (unsigned char)(i + seed);
}

unsigned char *data;
unsigned seed = 0;

void onDevice() {
  ++seed;
  pattern<<<unsigned((N + 255) / 256), 256>>>(data, N, seed);
  CHECK(cudaDeviceSynchronize());
}

// The host reads and writes what a kernel used last.
void touch() {
  onDevice();
  for (size_t i : {size_t(0), N / 2, N - 1}) {
    REQUIRE(data[i] == (unsigned char)(i + seed));
    data[i] = 1;
  }
}

bool is(const sigset_t &set, int signal) {
  return sigismember(&set, signal) == 1;
}

sigset_t setOf(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : signals)
    sigaddset(&set, signal);
  return set;
}

sigset_t maskNow() {
  sigset_t mask;
  REQUIRE(pthread_sigmask(SIG_SETMASK, nullptr, &mask) == 0);
  return mask;
}

void unblock() {
  sigset_t set = setOf({SIGSEGV, SIGUSR1});
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

struct sigaction actionNow(int signal = SIGSEGV) {
  struct sigaction action;
  REQUIRE(sigaction(signal, nullptr, &action) == 0);
  return action;
}

sigjmp_buf jump;
volatile sig_atomic_t calls, lastCode;
char *volatile lastAddress;
sigset_t inHandler;

void onFault(int signal, siginfo_t *info, void *) {
  REQUIRE(signal == SIGSEGV && info->si_signo == SIGSEGV);
  ++calls;
  lastCode = info->si_code;
  lastAddress = static_cast<char *>(info->si_addr);
  pthread_sigmask(SIG_SETMASK, nullptr, &inHandler);
}

void onFaultJump(int signal, siginfo_t *info, void *context) {
  onFault(signal, info, context);
  siglongjmp(jump, 1);
}

void set(void (*handler)(int, siginfo_t *, void *), int flags = 0,
         sigset_t mask = setOf({})) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  action.sa_mask = mask;
  REQUIRE(sigaction(SIGSEGV, &action, nullptr) == 0);
}

// An access of no memory that ends in the program's handler.
void badAccess(int depth = 0) {
  if (depth) {
    volatile char room[1000];
    room[depth] = 1;
    badAccess(depth - 1);
    room[0] = room[depth];
    return;
  }
  *reinterpret_cast<volatile char *>(64) = 1;
}

void caught(int depth) {
  int before = calls;
  if (sigsetjmp(jump, 1) == 0) {
    badAccess(depth);
    REQUIRE(false);
  }
  REQUIRE(calls == before + 1 && lastCode > 0 &&
          lastAddress == reinterpret_cast<char *>(64));
}

// How a child ends that does this.
int statusOf(const std::function<void()> &body) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

bool diesOfFault(const std::function<void()> &body) {
  int status = statusOf(body);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

void handlers() {
  // Set before the first allocation (main) and after it.
  REQUIRE(actionNow().sa_sigaction == onFaultJump &&
          (actionNow().sa_flags & SA_SIGINFO));
  touch();
  caught(0);
  touch();
  set(onFaultJump, SA_NODEFER, setOf({SIGUSR1}));
  REQUIRE(actionNow().sa_sigaction == onFaultJump &&
          (actionNow().sa_flags & SA_NODEFER));
  REQUIRE(is(actionNow().sa_mask, SIGUSR1) &&
          !is(actionNow().sa_mask, SIGUSR2));
  touch();
  // Again and again, from any depth: siglongjmp is the end of each.
  for (int depth : {3, 0, 20, 1}) {
    caught(depth);
    REQUIRE(is(inHandler, SIGUSR1) && !is(inHandler, SIGSEGV));
    REQUIRE(!is(maskNow(), SIGUSR1) && !is(maskNow(), SIGSEGV));
    touch();
  }
  set(onFaultJump);
  for (int depth : {3, 0, 20, 1}) {
    caught(depth);
    REQUIRE(is(inHandler, SIGSEGV) && !is(inHandler, SIGUSR1) &&
            !is(maskNow(), SIGSEGV));
  }
  // One that touches managed memory itself, on its own stack.
  std::vector<char> memory(64 << 10);
  stack_t stack{}, none{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  none.ss_flags = SS_DISABLE;
  REQUIRE(sigaltstack(&stack, nullptr) == 0);
  set(
      [](int, siginfo_t *info, void *) {
        char here;
        REQUIRE(&here > lastAddress && &here < lastAddress + (64 << 10));
        REQUIRE(info->si_code <= 0 &&
                data[N / 2] == (unsigned char)(N / 2 + seed));
        ++calls;
      },
      SA_ONSTACK);
  lastAddress = memory.data();
  onDevice();
  int before = calls;
  raise(SIGSEGV);
  REQUIRE(calls == before + 1);
  REQUIRE(sigaltstack(&none, nullptr) == 0);
  // Once.
  set(onFaultJump, SA_RESETHAND);
  caught(1);
  REQUIRE(actionNow().sa_handler == SIG_DFL);
  touch();
  // The older calls.
  auto handler = [](int) { siglongjmp(jump, 1); };
  void (*plain)(int) = handler;
  REQUIRE(signal(SIGSEGV, plain) == SIG_DFL && signal(SIGSEGV, plain) == plain);
  REQUIRE((actionNow().sa_flags & SA_RESTART) &&
          siginterrupt(SIGSEGV, 1) == 0 &&
          !(actionNow().sa_flags & SA_RESTART));
  touch();
  if (sigsetjmp(jump, 1) == 0)
    badAccess();
  REQUIRE(signal(SIGSEGV, SIG_IGN) == plain &&
          ssignal(SIGSEGV, plain) == SIG_IGN);
  REQUIRE(sysv_signal(SIGSEGV, plain) == plain &&
          (actionNow().sa_flags & SA_RESETHAND));
  if (sigsetjmp(jump, 1) == 0)
    badAccess();
  touch();
  REQUIRE(sigset(SIGSEGV, plain) == SIG_DFL &&
          sigset(SIGSEGV, SIG_HOLD) == plain && is(maskNow(), SIGSEGV));
  touch();
  REQUIRE(sigset(SIGSEGV, SIG_DFL) == SIG_HOLD && !is(maskNow(), SIGSEGV));
  REQUIRE(sigignore(SIGSEGV) == 0 && actionNow().sa_handler == SIG_IGN);
  touch();
  raise(SIGSEGV); // ignored
  signal(SIGSEGV, SIG_DFL);
  touch();
}

void ends() {
  // A fault cannot be ignored, and a handler does not get the fault that it raises.
  REQUIRE(diesOfFault([] { badAccess(); }));
  REQUIRE(diesOfFault([] { raise(SIGSEGV); }));
  REQUIRE(diesOfFault([] {
    signal(SIGSEGV, SIG_IGN);
    badAccess();
  }));
  REQUIRE(statusOf([] {
            signal(SIGSEGV, SIG_IGN);
            raise(SIGSEGV);
            kill(getpid(), SIGSEGV);
          }) == 0);
  REQUIRE(diesOfFault([] {
    set([](int, siginfo_t *, void *) {
      if (++calls > 1000)
        _exit(0);
      badAccess();
    });
    badAccess();
  }));
  REQUIRE(diesOfFault([] {
    set(onFaultJump);
    sigset_t all = setOf({SIGSEGV});
    sigprocmask(SIG_BLOCK, &all, nullptr);
    caught(0);
  }));
  REQUIRE(diesOfFault([] {
    set(onFault, SA_RESETHAND);
    badAccess();
  }));
}

// A signal that was sent while it is blocked waits.
void pending() {
  set(onFault);
  sigset_t fault = setOf({SIGSEGV}), now;
  int before = calls;
  REQUIRE(pthread_sigmask(SIG_BLOCK, &fault, nullptr) == 0 &&
          is(maskNow(), SIGSEGV));
  raise(SIGSEGV);
  touch();
  REQUIRE(calls == before && sigpending(&now) == 0 && is(now, SIGSEGV));
  unblock();
  REQUIRE(calls == before + 1 && lastCode == SI_TKILL &&
          sigpending(&now) == 0 && !is(now, SIGSEGV));
  sighold(SIGSEGV);
  // To this thread: of what is sent to the process, a thread of the GPU's driver
  // may be the one that takes it.
  raise(SIGSEGV);
  raise(SIGSEGV);
  touch();
  REQUIRE(calls == before + 1);
  sigrelse(SIGSEGV);
  REQUIRE(calls == before + 2 && lastCode == SI_TKILL);
  // Whoever takes all signals there are takes nothing away.
  REQUIRE(signal(SIGSTKFLT, SIG_IGN) == SIG_DFL &&
          actionNow(SIGSTKFLT).sa_handler == SIG_IGN);
  // siglongjmp to where it was not blocked delivers it, too.
  if (sigsetjmp(jump, 1) == 0) {
    pthread_sigmask(SIG_BLOCK, &fault, nullptr);
    raise(SIGSEGV);
    siglongjmp(jump, 1);
  }
  REQUIRE(calls == before + 3 && !is(maskNow(), SIGSEGV));
  // For who waits for it.
  siginfo_t info;
  int got = 0;
  pthread_sigmask(SIG_BLOCK, &fault, nullptr);
  raise(SIGSEGV);
  REQUIRE(sigwait(&fault, &got) == 0 && got == SIGSEGV);
  raise(SIGSEGV);
  REQUIRE(sigwaitinfo(&fault, &info) == SIGSEGV && info.si_signo == SIGSEGV &&
          info.si_pid == getpid());
  timespec none{};
  REQUIRE(sigtimedwait(&fault, &info, &none) == -1 && errno == EAGAIN);
  REQUIRE(calls == before + 3);
  raise(SIGSEGV);
  sigset_t empty = setOf({});
  REQUIRE(sigsuspend(&empty) == -1 && errno == EINTR && calls == before + 4 &&
          is(maskNow(), SIGSEGV));
  unblock();
  // BSD's.
  REQUIRE(sigblock(1 << (SIGSEGV - 1)) == 0 &&
          (siggetmask() & 1 << (SIGSEGV - 1)));
  touch();
  REQUIRE((sigsetmask(0) & 1 << (SIGSEGV - 1)) && !is(maskNow(), SIGSEGV));
  signal(SIGSEGV, SIG_DFL);
}

void *touchAll(void *result) {
  sigset_t mask = maskNow();
  REQUIRE(is(mask, SIGSEGV) && is(mask, SIGTERM));
  touch();
  *static_cast<bool *>(result) = true;
  return nullptr;
}

// Threads of servers: everything is blocked.
void threads() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_t thread;
  bool done = false;
  REQUIRE(pthread_sigmask(SIG_BLOCK, &all, &before) == 0);
  touch();
  REQUIRE(pthread_create(&thread, nullptr, touchAll, &done) == 0 &&
          pthread_join(thread, nullptr) == 0 && done);
  REQUIRE(pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0 &&
          !is(maskNow(), SIGSEGV));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  sigset_t given;
  REQUIRE(pthread_attr_setsigmask_np(&attributes, &all) == 0);
  REQUIRE(pthread_attr_getsigmask_np(&attributes, &given) == 0 &&
          is(given, SIGSEGV));
  done = false;
  REQUIRE(pthread_create(&thread, &attributes, touchAll, &done) == 0 &&
          pthread_join(thread, nullptr) == 0 && done);
  pthread_attr_destroy(&attributes);
  std::thread([&] {
    sigset_t mine = all;
    REQUIRE(sigprocmask(SIG_SETMASK, &mine, nullptr) == 0);
    touch();
  }).join();
  REQUIRE(!is(maskNow(), SIGSEGV));
}

std::atomic<int> ticks;
unsigned char *other; // kernels that are interrupted use `data`

// Handlers of other signals, with everything blocked, at any time: in the middle of calls of CUDA as well.
void handlersOfOthers() {
  CHECK(cudaMallocManaged(&other, N));
  struct sigaction action{};
  action.sa_handler = [](int) {
    int before = errno;
    for (size_t i = 0; i < N; i += N / 4)
      ++other[i];
    ++ticks;
    errno = before;
  };
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  REQUIRE(sigaction(SIGALRM, &action, nullptr) == 0 &&
          is(actionNow(SIGALRM).sa_mask, SIGSEGV));
  onDevice();
  raise(SIGALRM);
  REQUIRE(ticks == 1);
  // While the thread waits with a mask of its own.
  sigset_t all;
  sigfillset(&all);
  sigset_t butAlarm = all;
  sigdelset(&butAlarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  auto waits = [&](const std::function<int()> &wait) {
    onDevice();
    int had = ticks;
    raise(SIGALRM);
    REQUIRE(wait() == -1 && errno == EINTR && ticks == had + 1);
  };
  waits([&] { return sigsuspend(&butAlarm); });
  waits([&] { return ppoll(nullptr, 0, nullptr, &butAlarm); });
  waits([&] {
    return pselect(0, nullptr, nullptr, nullptr, nullptr, &butAlarm);
  });
  pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
  itimerval often{{0, 2000}, {0, 2000}}, never{};
  REQUIRE(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  int had = ticks;
  while (ticks < had + 50) {
    pattern<<<unsigned((N + 255) / 256), 256>>>(other, N, 0);
    onDevice();
  }
  REQUIRE(setitimer(ITIMER_REAL, &never, nullptr) == 0);
  signal(SIGALRM, SIG_DFL);
  CHECK(cudaFree(other));
}

// A read that waits for what a launch of another thread brings about, of memory in the same chunk.
void waitingRead() {
  onDevice();
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::atomic<bool> begun{false};
  std::thread reader([&] {
    begun = true;
    REQUIRE(read(ends[0], data + 100, 50) == 50);
  });
  while (!begun)
    std::this_thread::yield();
  for (int i = 0; i < 20; ++i)
    onDevice();
  std::vector<unsigned char> computed(50);
  CHECK(cudaMemcpy(computed.data(), data, 50, cudaMemcpyDefault));
  REQUIRE(write(ends[1], computed.data(), 50) == 50);
  reader.join();
  for (size_t i = 0; i < 50; ++i)
    REQUIRE(data[100 + i] == (unsigned char)(i + seed));
  REQUIRE(data[99] == (unsigned char)(99 + seed) &&
          data[150] == (unsigned char)(150 + seed));
}

// The kernel's words on a shell: "SigBlk" and "SigIgn" of /proc/PID/status.
bool childHas(const char *field, int signal, bool spawned) {
  char command[300];
  REQUIRE(signal == SIGSEGV); // bit 10: in the third digit from the right
  snprintf(command, sizeof command,
           "while read -r name mask; do case $name$mask in %s:*[4567cdef]??) "
           "exit 0;; esac; done < /proc/$$/status; exit 1",
           field);
  char shell[] = "/bin/sh", option[] = "-c";
  char *arguments[] = {shell, option, command, nullptr};
  int status;
  pid_t child;
  if (spawned)
    REQUIRE(posix_spawn(&child, shell, nullptr, nullptr, arguments, environ) ==
            0);
  else if ((child = fork()) == 0) {
    execl(shell, shell, option, command, nullptr);
    _exit(99);
  }
  REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
          WEXITSTATUS(status) < 2);
  return WEXITSTATUS(status) == 0;
}

void otherPrograms() {
  for (bool spawned : {false, true}) {
    REQUIRE(!childHas("SigBlk", SIGSEGV, spawned) &&
            !childHas("SigIgn", SIGSEGV, spawned));
    sighold(SIGSEGV);
    REQUIRE(childHas("SigBlk", SIGSEGV, spawned));
    sigrelse(SIGSEGV);
    REQUIRE(!childHas("SigBlk", SIGSEGV, spawned));
  }
  signal(SIGSEGV, SIG_IGN);
  REQUIRE(childHas("SigIgn", SIGSEGV, false));
  // exec that fails leaves everything as it was.
  char *none[] = {nullptr};
  REQUIRE(execv("/no such program", none) == -1 &&
          actionNow().sa_handler == SIG_IGN);
  touch();
  set(onFault);
  REQUIRE(!childHas("SigIgn", SIGSEGV, false));
  signal(SIGSEGV, SIG_DFL);
  touch();
}

int main() {
  set(onFaultJump);
  CHECK(cudaMallocManaged(&data, N));
  handlers();
  ends();
  pending();
  threads();
  handlersOfOthers();
  waitingRead();
  otherPrograms();
  CHECK(cudaFree(data));
  puts("all right");
  return 0;
}
