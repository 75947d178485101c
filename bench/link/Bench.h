//===- Bench.h - options, phases and the result line of each program -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program of bench/link makes its inputs, then passes three marks: loaded
// (the inputs are in device memory), computed (the kernels have ended) and
// stored (the results are in host memory, or in files on the disk). What lies
// between two marks is a phase; the clock starts when the inputs are ready and
// the device is, so that neither process start nor the making of data counts.
//
// The last line it prints is one JSON object: what was asked, the seconds of
// each phase and the bytes that the runtime moved in it, a checksum of the
// results and how many were checked. bench/link/run reads it.
//
// This and Bench.cpp know nothing of CUDA; all device code and every CUDA call
// is in the programs and in Data.h and Methods.h. Compile-time switches:
//   LINK_FILES    inputs and results are files, not host memory
//   LINK_METHODS  the program can also run by other methods than its plain
//   CUDA;
//                 dragon-cc's builds are without
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_BENCH_H
#define DRAGON_BENCH_LINK_BENCH_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

#ifdef LINK_FILES
constexpr bool Files = true;
#else
constexpr bool Files = false;
#endif
#ifdef LINK_METHODS
constexpr bool OtherMethods = true;
#else
constexpr bool OtherMethods = false;
#endif

/// Plain: cudaMemcpy, kernel, cudaMemcpy. Ring: the program's own pipeline.
/// ZeroCopy: kernels work in registered host memory. Managed: in managed
/// memory.
enum class Method { Plain, Ring, ZeroCopy, Managed };

/// Managed memory is for programs that fit with ease.
const size_t MostManaged = size_t{256} << 20;

[[noreturn]] void fail(const std::string &what);
double now(); ///< seconds

/// Calls body(context, first, last) for parts of [0, count), one for each core.
using RangeBody = void (*)(void *context, size_t first, size_t last);
void onAllCores(size_t count, RangeBody body, void *context);

/// The same for a body that is a lambda.
template <typename Body> void onAllCores(size_t count, const Body &body) {
  auto call = [](void *context, size_t first, size_t last) {
    (*(const Body *)context)(first, last);
  };
  onAllCores(count, call, (void *)&body);
}

/// The program's run: what was asked for, and how far it is.
class Bench {
public:
  const char *name;
  size_t size = size_t{64} << 20; ///< of the buffers, together
  int steps;                      ///< time steps, iterations: the program's
  bool pinned = false;            ///< host memory is pinned
  bool make = false;              ///< only make the input files
  double share = 100;             ///< percent of the data: the program's
  double warm = 0;                ///< seconds of work before the clock starts
  Method method = Method::Plain;
  std::string folder = ".";
  std::vector<std::string> inputPaths, outputPaths;
  /// Bytes that the kernels read or write, each counted once; 0: the program
  /// does not say.
  size_t touched = 0;

  Bench(const char *name, int argc, char **argv, int steps = 1);

  /// Says what the program takes on the device, and what of it comes in and
  /// goes out; ends the program if it is only to make files. The inputs' files
  /// leave the page cache.
  void announce(size_t footprint, size_t inputBytes, size_t outputBytes);
  void begin(); ///< starts the clock

  enum Phase { Load, Compute, Store };
  void end(Phase phase);

  /// Time that passes until a pause ends belongs to no phase.
  double pauseBegins() const { return now(); }
  void pauseEnds(double since);

  /// Prints the result line. The program's exit code.
  int finish(const struct Verdict &verdict);

private:
  struct Moved {
    uint64_t fromFile, toDevice, fromDevice, toFile;
  };
  static Moved moved();

  size_t footprint = 0, inputBytes = 0, outputBytes = 0, cached = 0;
  double last = 0, sync = 0, aside = 0;
  double seconds[3] = {};
  Moved movedBefore = {}, bytes[3] = {};
};

/// An array of elements in host memory, or in a file.
struct Array {
  void *data = nullptr;
  std::string path;
  size_t count = 0, element = 0; ///< elements; bytes of one
  size_t bytes() const { return count * element; }
};

/// Writes elements [first, last) to `elements`.
using Maker = void (*)(void *elements, size_t first, size_t last);
/// Host memory that all cores have touched: no page is made while the clock
/// runs.
void *pageableMemory(size_t bytes);
void makeInMemory(const Array &array, Maker make);
/// Names the file and makes it if that is all that the program is to do.
void addInputFile(Bench &bench, Array &array, const char *name, Maker make);
void addOutputFile(Bench &bench, Array &array, const char *name);

/// What was found out about results.
struct Verdict {
  uint64_t sum = 0; ///< of all elements; the same for each order
  size_t wrong = 0, checked = 0;
};
/// Writes what element `index` should be.
using Expected = void (*)(const void *context, size_t index, void *element);
/// The results, of a file too; valid until the program ends.
const void *resultsOf(const Array &results);
/// Adds all results to the checksum, and compares `samples` of them: the first
/// ones, the last ones, some between; all if there are no more than that.
void checkElements(const Array &results, size_t samples, Expected expected,
                   const void *context, Verdict &verdict);
} // namespace bench

#endif // DRAGON_BENCH_LINK_BENCH_H
