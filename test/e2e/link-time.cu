// Buffers that a class of another unit allocates, and kernels that functions of two more launch: with -flto the link sees
// where their contents die, and the data between the kernels never leave the device. The program is right without it, and
// where only a part has bitcode. Both kernels are called by one name, and only one of them overwrites.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/swap && cd %t.dir
// RUN: %bytes in.bin 12M link
// RUN: for unit in %S/Inputs/link-time/*.cu %S/Inputs/link-time/*.cpp; do \
// RUN:   %build -flto -Rpass=dragon -I%S/Inputs/link-time -c $unit || exit 1; done 2> log && not grep remark: log
// RUN: ar rcs libunits.a forward.o backward.o field.o && rm forward.o backward.o field.o
// RUN: %build -flto -Rpass=dragon -I%S/Inputs/link-time %s -L. -lunits -o program 2>&1 | FileCheck %s
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_WAVEFRONT=off DRAGON_STATS=stats.json ./program in.bin out.bin
// RUN: %ledger stats.json 'launches == 10' 'avoided_discard >= 4 * 8*M'
//
// The link is the same where build systems do not tell it of -flto: the objects have bitcode.
// RUN: %build -Rpass=dragon -I%S/Inputs/link-time %s -L. -lunits -o untold 2>&1 | FileCheck %s
//
// The same objects, linked as they are.
// RUN: %build -fno-lto -Rpass=dragon -I%S/Inputs/link-time %s -L. -lunits -o apart 2> log && not grep remark: log
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_WAVEFRONT=off DRAGON_STATS=stats.json ./apart in.bin apart.bin
// RUN: cmp out.bin apart.bin
// RUN: %ledger stats.json 'launches == 10' 'avoided_discard < 2 * 12*M'
//
// One unit without bitcode is unknown code: 'in' and 'act' may be kept by it.
// RUN: %build -I%S/Inputs/link-time -c %S/Inputs/link-time/forward.cu
// RUN: %build -flto -Rpass=dragon -I%S/Inputs/link-time %s forward.o -L. -lunits -o mixed 2>&1 | FileCheck %s --check-prefix=MIXED --allow-empty
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M ./mixed in.bin mixed.bin
// RUN: cmp out.bin mixed.bin
// MIXED-NOT: discarded after
//
// Unoptimised.
// RUN: %build -O0 -flto -I%S/Inputs/link-time %s -L. -lunits -o slow
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M ./slow in.bin slow.bin
// RUN: cmp out.bin slow.bin
// RUN: rm -rf %t.dir
#include "field.h"

int main(int, char **argv) {
  std::vector<uint32_t> h = slurp(argv[1]);
  const int n = h.size();
  // CHECK-DAG: link-time.cu:[[#@LINE+1]]:9: remark: 'data' mapped read-only from file read at line [[#@LINE-2]]: no copy in
  Field in(n);
  // CHECK-DAG: link-time.cu:[[#@LINE+1]]:9: remark: 'data' mapped volatile: intermediate data
  Field act(n);
  // CHECK-DAG: link-time.cu:[[#@LINE+1]]:9: remark: 'data' mapped write-only to file written at line
  Field sum(n);
  // CHECK-DAG: field.cpp:{{[0-9]+}}:9: remark: 'h' elided: bytes read from the file at {{.*}}link-time.cu:
  in.load(h);
  sum.clear();
  for (uint32_t step = 0; step < 5; ++step) {
    forward(act, in, step);
    // CHECK-DAG: backward.cu:{{[0-9]+}}:3: remark: 'data' discarded after 'pass' if a test at run time finds it overwritten by 'pass' at {{.*}}forward.cu:
    backward(sum, act);
  }
  sum.store(h);
  FILE *out = openFile(argv[2], "wb");
  REQUIRE(fwrite(h.data(), 4, h.size(), out) == h.size());
  fclose(out);

  std::vector<uint32_t> model = slurp(argv[1]), sums(n);
  for (uint32_t step = 0; step < 5; ++step)
    for (int i = 0; i < n; ++i)
      sums[i] = sums[i] * 3 + model[i] + step;
  REQUIRE(slurp(argv[2]) == sums);
  return 0;
}
