// Runs kernels thread by thread on the host and records which bytes of each buffer they touch. A kernel written with
// these macros compiles for the device (the summary) and for the host (the truth); see test/fuzz/random-footprints.
#ifndef RECORDER_H
#define RECORDER_H
struct Four {
  int x, y, z, w;
};
#ifdef __CUDA__
#include "device.h"
#define P(T) T *
#define FIELD(p, i, f) ((p)[i].f)
#define ATOMIC(p, i, v) __atomic_fetch_add(&(p)[i], v, __ATOMIC_RELAXED)
#define KERNEL extern "C" __global__
#define DEVICE static __device__
#else
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sys/wait.h>
#include <unistd.h>
using std::max;
using std::min;
struct Dimensions {
  unsigned x, y, z;
};
inline Dimensions threadIdx, blockIdx, blockDim, gridDim;
inline long Steps = 0;
using Bytes = std::map<int, std::set<int64_t>>;
inline Bytes Read, Written, OldRead, OldInBox;
inline std::map<int, std::map<int64_t, unsigned char>> Mine; // what the running thread has written
inline bool InBox;
inline void step() {
  if (++Steps > 400000)
    _exit(3);
}
// What a buffer holds: small numbers that depend on the place alone.
inline int contents(int Id, int64_t Offset) {
  return int((uint64_t(Offset) * 2654435761u + unsigned(Id) * 40503u) >> 7 & 31);
}
template <class T> T made(int Value) { return T(Value); }
template <> inline Four made<Four>(int Value) { return {Value, Value, Value, Value}; }
template <class T> T load(int Id, int64_t Offset) {
  step();
  T Value = made<T>(contents(Id, Offset));
  for (size_t I = 0; I < sizeof(T); ++I) {
    int64_t Byte = Offset + int64_t(I);
    if (InBox)
      Read[Id].insert(Byte);
    if (auto It = Mine[Id].find(Byte); It != Mine[Id].end()) {
      reinterpret_cast<unsigned char *>(&Value)[I] = It->second;
      continue;
    }
    OldRead[Id].insert(Byte);
    if (InBox)
      OldInBox[Id].insert(Byte);
  }
  return Value;
}
template <class T> void store(int Id, int64_t Offset, T Value) {
  step();
  for (size_t I = 0; I < sizeof(T); ++I) {
    int64_t Byte = Offset + int64_t(I);
    if (InBox)
      Written[Id].insert(Byte);
    Mine[Id][Byte] = reinterpret_cast<unsigned char *>(&Value)[I];
  }
}
template <class T> struct Pointer {
  int Id;
  int64_t Offset;
  struct Reference {
    int Id;
    int64_t Offset;
    operator T() const { return load<T>(Id, Offset); }
    const Reference &operator=(T Value) const {
      store(Id, Offset, Value);
      return *this;
    }
    const Reference &operator=(const Reference &R) const { return *this = T(R); }
    const Reference &operator+=(T Value) const { return *this = T(T(*this) + Value); }
  };
  template <class I> Reference operator[](I Index) const {
    return {Id, int64_t(uint64_t(Offset) + uint64_t(int64_t(Index)) * sizeof(T))};
  }
  Reference operator*() const { return {Id, Offset}; }
  template <class I> Pointer operator+(I Index) const {
    return {Id, int64_t(uint64_t(Offset) + uint64_t(int64_t(Index)) * sizeof(T))};
  }
  template <class I> Pointer operator-(I Index) const {
    return {Id, int64_t(uint64_t(Offset) - uint64_t(int64_t(Index)) * sizeof(T))};
  }
  template <class I> Pointer &operator+=(I Index) { return *this = *this + Index; }
  Pointer &operator++() { return *this += 1; }
};
#define P(T) Pointer<T>
#define FIELD(p, i, f) (*Pointer<int>{(p).Id, ((p) + (i)).Offset + int64_t(offsetof(Four, f))})
#define ATOMIC(p, i, v) ((p)[i] += v)
#define KERNEL static
#define DEVICE static
#define __shared__ static
#define __syncthreads()
inline void printSet(const char *Name, const std::set<int64_t> &Set) {
  printf(" %s", Name);
  for (auto It = Set.begin(); It != Set.end();) {
    int64_t Begin = *It, End = Begin;
    while (It != Set.end() && *It == End)
      ++It, ++End;
    printf(" [%lld,%lld)", (long long)Begin, (long long)End);
  }
}
// Runs the kernel in a process of its own: one that goes wrong is left out.
template <class Call>
void run(const char *Name, Dimensions Grid, Dimensions Block, Dimensions Lo, Dimensions Hi, int Buffers, Call Kernel) {
  fflush(stdout);
  pid_t Child = fork();
  if (Child != 0) {
    int Status;
    waitpid(Child, &Status, 0);
    if (Status != 0)
      printf("%s skipped\n", Name);
    return;
  }
  gridDim = Grid;
  blockDim = Block;
  auto box = [&](Dimensions B) {
    return B.x >= Lo.x && B.x < Hi.x && B.y >= Lo.y && B.y < Hi.y && B.z >= Lo.z && B.z < Hi.z;
  };
  for (blockIdx.z = 0; blockIdx.z < Grid.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < Grid.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < Grid.x; ++blockIdx.x)
        for (threadIdx.z = 0; threadIdx.z < Block.z; ++threadIdx.z)
          for (threadIdx.y = 0; threadIdx.y < Block.y; ++threadIdx.y)
            for (threadIdx.x = 0; threadIdx.x < Block.x; ++threadIdx.x) {
              InBox = box(blockIdx);
              Mine.clear();
              Kernel();
            }
  for (int Id = 0; Id < Buffers; ++Id) {
    printf("%s %d", Name, Id);
    printSet("read", Read[Id]);
    printSet("write", Written[Id]);
    printSet("old", OldRead[Id]);
    printSet("oldInBox", OldInBox[Id]);
    printf("\n");
  }
  fflush(stdout);
  _exit(0);
}
#endif
#endif
