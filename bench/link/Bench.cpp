//===- Bench.cpp - options, phases, data and checks of the programs ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See Bench.h. No CUDA here: one object for all programs and compilers.
//
//===----------------------------------------------------------------------===//
#include "Bench.h"
#include "Exact.h"
#include "Files.h"
#include "dragon/dragon.h"

#include <atomic>
#include <thread>

#include <sys/resource.h>
#include <time.h>

/// There only where the program runs with dragon-cc's runtime.
extern "C" dragon_error dragon_stats(dragon_stats_t *) __attribute__((weak));

namespace bench {

static const char *const MethodNames[] = {"plain", "ring", "zero-copy",
                                          "managed"};

void fail(const std::string &what) {
  fprintf(stderr, "error: %s\n", what.c_str());
  exit(2);
}

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static unsigned cores() {
  unsigned count = std::thread::hardware_concurrency();
  return count ? count : 1;
}

void onAllCores(size_t count, RangeBody body, void *context) {
  size_t parts = count < 4096 ? 1 : cores();
  std::vector<std::thread> workers;
  for (size_t t = 1; t < parts; ++t)
    workers.emplace_back(body, context, count * t / parts,
                         count * (t + 1) / parts);
  body(context, 0, count / parts);
  for (std::thread &worker : workers)
    worker.join();
}

static void usage(const Bench &bench) {
  fprintf(
      stderr,
      "usage: %s [OPTION VALUE]...\n"
      "  --size MiB         of the buffers on the device, together (%zu)\n"
      "  --steps N          time steps or iterations (%d)\n"
      "  --share PERCENT    of the data, where a program uses a part (%g)\n"
      "  --memory pageable  what host memory is, or pinned\n"
      "  --folder DIR       of the files\n"
      "  --make files       makes the input files and ends\n"
      "  --warm MS          keeps the device busy so long before the start\n"
      "  --method plain     or where built for it ring, zero-copy, managed\n",
      bench.name, bench.size >> 20, bench.steps, bench.share);
  exit(2);
}

static long number(const Bench &bench, const std::string &text) {
  char *end;
  long value = strtol(text.c_str(), &end, 10);
  if (*end || value <= 0 || value > 1 << 24)
    usage(bench);
  return value;
}

static double percent(const Bench &bench, const std::string &text) {
  char *end;
  double value = strtod(text.c_str(), &end);
  if (*end || !(value > 0 && value <= 100))
    usage(bench);
  return value;
}

static Method methodNamed(const Bench &bench, const std::string &text) {
  for (int i = 0; i < 4; ++i)
    if (text == MethodNames[i])
      return (Method)i;
  usage(bench);
  return Method::Plain;
}

Bench::Bench(const char *name, int argc, char **argv, int steps)
    : name(name), steps(steps) {
  for (int i = 1; i < argc; i += 2) {
    std::string option = argv[i];
    if (i + 1 == argc)
      usage(*this);
    std::string value = argv[i + 1];
    if (option == "--size")
      size = (size_t)number(*this, value) << 20;
    else if (option == "--steps")
      this->steps = (int)number(*this, value);
    else if (option == "--share")
      share = percent(*this, value);
    else if (option == "--memory" && (value == "pageable" || value == "pinned"))
      pinned = value == "pinned";
    else if (option == "--folder")
      folder = value;
    else if (option == "--make" && value == "files")
      make = true;
    else if (option == "--warm")
      warm = (double)number(*this, value) / 1e3;
    else if (option == "--method")
      method = methodNamed(*this, value);
    else
      usage(*this);
  }
  pinned |= method == Method::Ring;
}

void Bench::announce(size_t footprint, size_t inputBytes, size_t outputBytes) {
  if (make)
    exit(0);
  this->footprint = footprint;
  this->inputBytes = inputBytes;
  this->outputBytes = outputBytes;
  if (method == Method::Managed && footprint > MostManaged)
    fail("managed memory is for at most 256 MiB here");
  for (const std::string &path : outputPaths)
    unlink(path.c_str()); // no time goes into truncating it
  for (const std::string &path : inputPaths) {
    dropCached(path);
    cached += MappedFile(path).cachedBytes();
  }
}

void Bench::begin() {
  last = now();
  movedBefore = moved();
}

Bench::Moved Bench::moved() {
  dragon_stats_t stats;
  memset(&stats, 0, sizeof(stats));
  stats.size = sizeof(stats);
  if (!dragon_stats || dragon_stats(&stats) != DRAGON_OK)
    return {};
  return {stats.file_to_host, stats.host_to_device, stats.device_to_host,
          stats.host_to_file};
}

void Bench::end(Phase phase) {
  double time = now();
  Moved all = moved();
  seconds[phase] += time - last;
  bytes[phase] = {
      all.fromFile - movedBefore.fromFile, all.toDevice - movedBefore.toDevice,
      all.fromDevice - movedBefore.fromDevice, all.toFile - movedBefore.toFile};
  movedBefore = all;
  last = now();
  if (phase != Store)
    return;
  for (const std::string &path : outputPaths)
    syncFile(path);
  sync = now() - last;
}

void Bench::pauseEnds(double since) {
  double took = now() - since;
  aside += took;
  last += took;
}

int Bench::finish(const Verdict &verdict) {
  double total = sync;
  for (double phase : seconds)
    total += phase;
  printf("{\"program\": \"%s\", \"method\": \"%s\", \"from\": \"%s\", "
         "\"memory\": \"%s\", \"footprint\": %zu, \"input\": %zu, "
         "\"output\": %zu, \"touched\": %zu, \"steps\": %d, \"seconds\": "
         "{\"load\": %.6f, "
         "\"compute\": %.6f, \"store\": %.6f, \"sync\": %.6f, "
         "\"total\": %.6f, \"aside\": %.6f}, ",
         name, MethodNames[(int)method], inputPaths.empty() ? "host" : "files",
         pinned ? "pinned" : "pageable", footprint, inputBytes, outputBytes,
         touched, steps, seconds[Load], seconds[Compute], seconds[Store], sync,
         total, aside);
  if (dragon_stats) {
    const char *names[] = {"load", "compute", "store"};
    printf("\"moved\": {");
    for (int phase = 0; phase < 3; ++phase)
      printf("\"%s\": [%llu, %llu, %llu, %llu]%s", names[phase],
             (unsigned long long)bytes[phase].fromFile,
             (unsigned long long)bytes[phase].toDevice,
             (unsigned long long)bytes[phase].fromDevice,
             (unsigned long long)bytes[phase].toFile, phase < 2 ? ", " : "}, ");
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("\"cached\": %zu, \"peak_host\": %zu, \"checksum\": \"%016llx\", "
         "\"checked\": %zu, \"wrong\": %zu}\n",
         cached, (size_t)usage.ru_maxrss << 10, (unsigned long long)verdict.sum,
         verdict.checked, verdict.wrong);
  if (verdict.wrong)
    fprintf(stderr, "%s: WRONG: %zu of %zu differ\n", name, verdict.wrong,
            verdict.checked);
  return verdict.wrong ? 1 : 0;
}

void *pageableMemory(size_t bytes) {
  const size_t huge = size_t{2} << 20;
  void *memory = nullptr;
  if (posix_memalign(&memory, huge, (bytes + huge - 1) / huge * huge) != 0)
    fail("no host memory for " + std::to_string(bytes) + " bytes");
  madvise(memory, bytes, MADV_HUGEPAGE);
  onAllCores(bytes, [=](size_t first, size_t last) {
    for (size_t i = first; i < last; i += 4096)
      ((volatile char *)memory)[i] = 0;
  });
  return memory;
}

void makeInMemory(const Array &array, Maker make) {
  onAllCores(array.count, [&](size_t first, size_t last) {
    make((char *)array.data + first * array.element, first, last);
  });
}

static void makeFile(const Array &array, Maker make) {
  int file = open(array.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || ftruncate(file, (off_t)array.bytes()) != 0)
    fail("cannot make '" + array.path + "': " + strerror(errno));
  onAllCores(array.count, [&](size_t first, size_t last) {
    const size_t most = (size_t{4} << 20) / array.element;
    std::vector<char> piece(most * array.element);
    for (size_t start = first; start < last; start += most) {
      size_t end = last - start < most ? last : start + most;
      make(piece.data(), start, end);
      writeAt(file, piece.data(), (end - start) * array.element,
              start * array.element, array.path);
    }
  });
  close(file);
  dropCached(array.path);
}

void addInputFile(Bench &bench, Array &array, const char *name, Maker make) {
  array.path = bench.folder + "/" + bench.name + "." + name + ".in";
  if (bench.make)
    makeFile(array, make);
  bench.inputPaths.push_back(array.path);
}

void addOutputFile(Bench &bench, Array &array, const char *name) {
  array.path = bench.folder + "/" + bench.name + "." + name + ".out";
  bench.outputPaths.push_back(array.path);
}

const void *resultsOf(const Array &array) {
  if (array.path.empty())
    return array.data;
  const MappedFile *file = new MappedFile(array.path);
  if (file->bytes != array.bytes())
    fail("'" + array.path + "' has " + std::to_string(file->bytes) +
         " bytes, not " + std::to_string(array.bytes()));
  return file->data;
}

static std::string bitsOf(const void *element, size_t bytes) {
  float value;
  std::string text;
  for (size_t i = bytes; i-- > 0;) {
    char digits[3];
    snprintf(digits, sizeof(digits), "%02x",
             ((const unsigned char *)element)[i]);
    text += digits;
  }
  if (bytes != sizeof(value))
    return text;
  memcpy(&value, element, sizeof(value));
  return text + " (as a float " + std::to_string(value) + ")";
}

void checkElements(const Array &array, size_t samples, Expected expected,
                   const void *context, Verdict &verdict) {
  const char *data = (const char *)resultsOf(array);
  const size_t element = array.element, count = array.count;
  std::atomic<uint64_t> sum{verdict.sum};
  onAllCores(count, [&](size_t first, size_t last) {
    uint64_t part = 0;
    for (size_t i = first; i < last; ++i) {
      uint64_t bits = 0;
      memcpy(&bits, data + i * element, element < 8 ? element : 8);
      part += mix(bits, i);
    }
    sum += part;
  });
  verdict.sum = sum;

  const bool all = samples >= count;
  samples = all ? count : samples;
  auto pick = [&](size_t k) -> size_t {
    if (all || k < samples / 8)
      return k;
    return k < samples / 4 ? count - 1 - (k - samples / 8) : mix(k, 77) % count;
  };
  // A sample may be much work: cores take the next few, not a fixed part.
  std::atomic<size_t> next{0}, wrong{0};
  const size_t few = samples / 4096 + 1;
  auto work = [&] {
    std::vector<char> right(element);
    for (size_t first; (first = next.fetch_add(few)) < samples;)
      for (size_t k = first; k < first + few && k < samples; ++k) {
        size_t i = pick(k);
        expected(context, i, right.data());
        const char *got = data + i * element;
        if (memcmp(got, right.data(), element) != 0 && wrong++ < 5)
          fprintf(stderr, "element %zu: got %s, expected %s\n", i,
                  bitsOf(got, element).c_str(),
                  bitsOf(right.data(), element).c_str());
      }
  };
  std::vector<std::thread> workers;
  for (unsigned t = 1; t < cores(); ++t)
    workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();
  verdict.wrong += wrong;
  verdict.checked += samples;
}

} // namespace bench
