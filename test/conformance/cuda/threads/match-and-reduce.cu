// __match_any_sync, __match_all_sync and __reduce_*_sync.
// RUN: %conforms %s
#include "conformance.h"

__global__ void matches(unsigned *out) {
  int t = threadIdx.x, predicate;
  out[t] = __match_any_sync(~0u, t % 5);
  out[32 + t] = __match_any_sync(~0u, (unsigned long long)(t / 16) << 33);
  out[64 + t] = __match_all_sync(~0u, 7, &predicate);
  out[96 + t] = predicate;
  out[128 + t] = __match_all_sync(~0u, t, &predicate);
  out[160 + t] = predicate;
  out[192 + t] = __match_any_sync(~0u, t < 8 ? 1.5f : 2.5f);
}

__global__ void reductions(int *out) {
  int t = threadIdx.x;
  out[t] = __reduce_add_sync(~0u, t);
  out[32 + t] = __reduce_min_sync(~0u, 5 - t);
  out[64 + t] = __reduce_max_sync(~0u, unsigned(t * 2));
  out[96 + t] = __reduce_and_sync(~0u, ~unsigned(t));
  out[128 + t] = __reduce_or_sync(~0u, 1u << t);
  out[160 + t] = __reduce_xor_sync(~0u, unsigned(t));
  if (t % 2)
    out[192 + t] = __reduce_add_sync(0xaaaaaaaa, t);
}

int main() {
  unsigned *m = onDevice<unsigned>(224);
  int *r = onDevice<int>(224);
  matches<<<1, 32>>>(m);
  reductions<<<1, 32>>>(r);
  auto a = fetch(m, 224);
  auto b = fetch(r, 224);
  for (int t = 0; t < 32; ++t) {
    unsigned equal = 0;
    for (int i = t % 5; i < 32; i += 5)
      equal |= 1u << i;
    REQUIRE(a[t] == equal && a[32 + t] == (t < 16 ? 0xffffu : 0xffff0000u));
    REQUIRE(a[64 + t] == ~0u && a[96 + t] && !a[128 + t] && !a[160 + t]);
    REQUIRE(a[192 + t] == (t < 8 ? 0xffu : 0xffffff00u));
    REQUIRE(b[t] == 496 && b[32 + t] == -26 && b[64 + t] == 62);
    REQUIRE(b[96 + t] == ~31 && b[128 + t] == -1 && b[160 + t] == 0);
    REQUIRE(t % 2 == 0 || b[192 + t] == 256);
  }
  return 0;
}
