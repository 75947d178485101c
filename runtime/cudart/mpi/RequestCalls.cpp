//===- RequestCalls.cpp - calls of MPI that wait for requests -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/mpi/Calls.h"
#include "runtime/cudart/mpi/Requests.h"
#include "runtime/cudart/mpi/Waits.h"
#include "runtime/trace/Log.h"

#include <optional>
#include <vector>

namespace dragon::mpi {

int failed(const Library &library, const char *call, const Status &status) {
  notice("error: {}: {}", call, status.message());
  const int code = library.interface().otherError;
  library.calls().Comm_call_errhandler(library.world(), code);
  return code;
}

namespace {

/// A function of MPI, as the program would have called it.
template <typename... Parameters> struct Real {
  const char *name;
  void *function = nullptr;

  int operator()(Parameters... arguments) const {
    return reinterpret_cast<int (*)(Parameters...)>(function)(arguments...);
  }
  /// Null: nothing can be staged.
  const Library *library() const {
    return Front::existing() ? Library::get(function) : nullptr;
  }
};

Real<void *, void *> realWait{"MPI_Wait"};
Real<int, void *, void *> realWaitall{"MPI_Waitall"};
Real<int, void *, int *, void *> realWaitany{"MPI_Waitany"};
Real<int, void *, int *, int *, void *> realWaitsome{"MPI_Waitsome"};
Real<void *, int *, void *> realTest{"MPI_Test"};
Real<int, void *, int *, void *> realTestall{"MPI_Testall"};
Real<int, void *, int *, int *, void *> realTestany{"MPI_Testany"};
Real<int, void *, int *, int *, void *> realTestsome{"MPI_Testsome"};
Real<void *> realStart{"MPI_Start"};
Real<int, void *> realStartall{"MPI_Startall"};
Real<void *> realRequestFree{"MPI_Request_free"};
Real<void *> realTypeFree{"MPI_Type_free"};

/// The requests of a call, as they were before it.
class Completion {
public:
  Completion(const Library *library, const char *call, int count,
             const void *requests, void *&statuses)
      : Mpi(library), Name(call) {
    bool staged = false;
    for (int i = 0; Mpi && i < count; ++i) {
      Handles.push_back(Mpi->handleAt(requests, size_t(i)));
      staged |= mpi::requests().has(Handles.back());
    }
    if (!staged) {
      Handles.clear();
      return;
    }
    Now = requests;
    if (reinterpret_cast<Word>(statuses) == Mpi->interface().ignoredStatus) {
      Own.resize((size_t(count) * Mpi->interface().statusBytes + 7) / 8);
      statuses = Own.data();
    }
    Statuses = static_cast<char *>(statuses);
  }

  /// The request at `index` is complete, its status is the one at `place`.
  void complete(int index, int place) {
    if (index < 0 || size_t(index) >= Handles.size())
      return;
    Status status = requests().complete(
        *Mpi, Handles[size_t(index)],
        Statuses + size_t(place) * Mpi->interface().statusBytes);
    if (!status.ok() && Failure.ok())
      Failure = std::move(status);
  }
  /// All are, or where there was an error, those that are gone.
  void completeAll(int result) {
    for (size_t i = 0; i < Handles.size(); ++i)
      if (result == 0 ||
          (!Mpi->isNull(Handles[i]) && Mpi->isNull(Mpi->handleAt(Now, i))))
        complete(int(i), int(i));
  }
  void completeSome(int result, const int *done, const int *indices) {
    for (int i = 0; result == 0 && i < *done; ++i)
      complete(indices[i], i);
  }
  int end(int result) {
    return Failure.ok() ? result : failed(*Mpi, Name, Failure);
  }

private:
  const Library *const Mpi;
  const char *const Name;
  const void *Now = nullptr;
  std::vector<Word> Handles;
  std::vector<uint64_t> Own;
  char *Statuses = nullptr;
  Status Failure;
};

/// What was launched, but kept back to run with others, runs while we wait.
void runLaunches() {
  if (Front *front = Front::existing())
    (void)Front::enter(front);
}

template <typename Real, typename... Arguments>
int waitIn(const Real &real, Arguments... arguments) {
  runLaunches();
  const Waiting waiting(real.name);
  return real(arguments...);
}

int wait(void *request, void *status) {
  Completion all(realWait.library(), realWait.name, 1, request, status);
  const int result = waitIn(realWait, request, status);
  all.completeAll(result);
  return all.end(result);
}

int waitall(int count, void *requests, void *statuses) {
  Completion all(realWaitall.library(), realWaitall.name, count, requests,
                 statuses);
  const int result = waitIn(realWaitall, count, requests, statuses);
  all.completeAll(result);
  return all.end(result);
}

int waitany(int count, void *requests, int *index, void *status) {
  Completion all(realWaitany.library(), realWaitany.name, count, requests,
                 status);
  const int result = waitIn(realWaitany, count, requests, index, status);
  if (result == 0)
    all.complete(*index, 0);
  return all.end(result);
}

int waitsome(int count, void *requests, int *done, int *indices,
             void *statuses) {
  Completion all(realWaitsome.library(), realWaitsome.name, count, requests,
                 statuses);
  const int result =
      waitIn(realWaitsome, count, requests, done, indices, statuses);
  all.completeSome(result, done, indices);
  return all.end(result);
}

int test(void *request, int *flag, void *status) {
  Completion all(realTest.library(), realTest.name, 1, request, status);
  const int result = realTest(request, flag, status);
  if (result == 0 && *flag)
    all.completeAll(result);
  return all.end(result);
}

int testall(int count, void *requests, int *flag, void *statuses) {
  Completion all(realTestall.library(), realTestall.name, count, requests,
                 statuses);
  const int result = realTestall(count, requests, flag, statuses);
  if (result != 0 || *flag)
    all.completeAll(result);
  return all.end(result);
}

int testany(int count, void *requests, int *index, int *flag, void *status) {
  Completion all(realTestany.library(), realTestany.name, count, requests,
                 status);
  const int result = realTestany(count, requests, index, flag, status);
  if (result == 0 && *flag)
    all.complete(*index, 0);
  return all.end(result);
}

int testsome(int count, void *requests, int *done, int *indices,
             void *statuses) {
  Completion all(realTestsome.library(), realTestsome.name, count, requests,
                 statuses);
  const int result = realTestsome(count, requests, done, indices, statuses);
  all.completeSome(result, done, indices);
  return all.end(result);
}

Status copyInOf(const Library &library, int count, const void *all) {
  for (int i = 0; i < count; ++i)
    DRAGON_TRY(requests().start(library.handleAt(all, size_t(i))));
  return {};
}

int start(void *request) {
  if (const Library *library = realStart.library())
    if (Status status = copyInOf(*library, 1, request); !status.ok())
      return failed(*library, realStart.name, status);
  return realStart(request);
}

int startall(int count, void *requests) {
  if (const Library *library = realStartall.library())
    if (Status status = copyInOf(*library, count, requests); !status.ok())
      return failed(*library, realStartall.name, status);
  return realStartall(count, requests);
}

int requestFree(void *request) {
  if (const Library *library = realRequestFree.library())
    requests().free(library->handleAt(request, 0));
  return realRequestFree(request);
}

int typeFree(void *type) {
  if (const Library *library = realTypeFree.library())
    forgetType(*library, library->handleAt(type, 0));
  return realTypeFree(type);
}

template <typename Real, typename Function>
LedCall led(Real &real, Function *ours) {
  return {real.name, reinterpret_cast<void *>(ours), &real.function,
          Library::fits};
}

} // namespace

std::span<const LedCall> requestCalls() {
  static const LedCall Led[] = {led(realWait, wait),
                                led(realWaitall, waitall),
                                led(realWaitany, waitany),
                                led(realWaitsome, waitsome),
                                led(realTest, test),
                                led(realTestall, testall),
                                led(realTestany, testany),
                                led(realTestsome, testsome),
                                led(realStart, start),
                                led(realStartall, startall),
                                led(realRequestFree, requestFree),
                                led(realTypeFree, typeFree)};
  return Led;
}

} // namespace dragon::mpi
