// The header of DRAGON's artifact is found in its folder, compiles as C and as C++ with all warnings, and says that it goes with
// no other of that kind.
// RUN: %dragon-cc -c -std=c11 -Wall -Wextra -Werror -I%S/../../include/dragon/compat %s -o %t.o
// RUN: llvm-nm %t.o | FileCheck %s
// RUN: %dragon-cc -x c++ -c -std=c++17 -Wall -Wextra -Werror -I%S/../../include/dragon/compat %s -o %t.o
// RUN: llvm-nm %t.o | FileCheck %s
// RUN: not %dragon-cc -c -DBOTH -I%S/../../include/dragon/compat %s -o %t.o 2>&1 | FileCheck %s --check-prefix=BOTH
#ifdef BOTH
#include <dragon/dragon.h>
#endif
// BOTH: include either <dragon/dragon.h> or the artifact's <dragon.h>
#include <dragon.h>

// The artifact's symbols, not those of the other header's functions.
// CHECK: U dragon_flush
// CHECK: U dragon_map
// CHECK: U dragon_remap
// CHECK: U dragon_trash_set_num_blocks
// CHECK: U dragon_trash_set_num_reserved_sys_cache_pages
// CHECK: U dragon_unmap
int main(void) {
  void *addr = NULL;
  dragonError_t error =
      dragon_map("file", 4096, D_F_READ | D_F_WRITE | D_F_CREATE, &addr);
  if (error == D_OK)
    error = dragon_remap(addr, D_F_READ | D_F_VOLATILE);
  if (error == D_ERR_NOT_IMPLEMENTED)
    error = dragon_flush(addr);
  if (dragon_trash_set_num_blocks(1) != D_ERR_NOT_IMPLEMENTED ||
      dragon_trash_set_num_reserved_sys_cache_pages(1) == D_OK)
    printf("%d\n", (int)error);
  return dragon_unmap(addr) == D_OK ? 0 : 1;
}
