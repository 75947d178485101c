// Integer intrinsics on two or four lanes of a word, against the same done lane by lane: all pairs of bytes, in each lane with others beside
// them, and halves at their limits.
// RUN: %conforms %s
#include "conformance.h"
#include <algorithm>
#include <cstdlib>
#include <vector>

#define BINARY(DO)                                                             \
  DO(add)                                                                      \
  DO(addss)                                                                    \
  DO(addus)                                                                    \
  DO(sub)                                                                      \
  DO(subss)                                                                    \
  DO(subus)                                                                    \
  DO(avgs)                                                                     \
  DO(avgu)                                                                     \
  DO(haddu)                                                                    \
  DO(maxs)                                                                     \
  DO(maxu) DO(mins) DO(minu) DO(absdiffs) DO(absdiffu) DO(sads) DO(sadu)
#define COMPARISONS(DO)                                                        \
  DO(eq) DO(ne) DO(gts) DO(gtu) DO(ges) DO(geu) DO(lts) DO(ltu) DO(les) DO(leu)
#define UNARY(DO) DO(abs) DO(absss) DO(neg) DO(negss)

enum Operation {
#define DO(name) name##_,
  BINARY(DO) UNARY(DO)
#undef DO
#define DO(name) cmp##name##_, set##name##_,
      COMPARISONS(DO)
#undef DO
          Operations
};
const char *const Names[] = {
#define DO(name) #name,
    BINARY(DO) UNARY(DO)
#undef DO
#define DO(name) "cmp" #name, "set" #name,
        COMPARISONS(DO)
#undef DO
};

__global__ void all(const unsigned *x, const unsigned *y, unsigned *out,
                    int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const unsigned a = x[i], b = y[i];
  unsigned *two = out + size_t(i) * 2 * Operations, *four = two + Operations;
#define DO(name)                                                               \
  two[name##_] = __v##name##2(a, b);                                           \
  four[name##_] = __v##name##4(a, b);
  BINARY(DO)
#undef DO
#define DO(name)                                                               \
  two[name##_] = __v##name##2(a);                                              \
  four[name##_] = __v##name##4(a);
  UNARY(DO)
#undef DO
#define DO(name)                                                               \
  two[cmp##name##_] = __vcmp##name##2(a, b);                                   \
  four[cmp##name##_] = __vcmp##name##4(a, b);                                  \
  two[set##name##_] = __vset##name##2(a, b);                                   \
  four[set##name##_] = __vset##name##4(a, b);
  COMPARISONS(DO)
#undef DO
}

/// What lanes of `bits` bits give, as CUDA's math API says.
static int lane(Operation op, int bits, unsigned a, unsigned b) {
  const int high = 1 << (bits - 1), top = 2 * high - 1;
  const int A = a, B = b, X = (A ^ high) - high, Y = (B ^ high) - high;
  const auto signedLimit = [&](int value) {
    return std::clamp(value, -high, high - 1);
  };
  const auto flag = [&](bool holds, Operation compared) {
    return holds ? op == compared ? top : 1 : 0;
  };
  switch (op) {
  case add_:
    return A + B;
  case addss_:
    return signedLimit(X + Y);
  case addus_:
    return std::min(A + B, top);
  case sub_:
    return A - B;
  case subss_:
    return signedLimit(X - Y);
  case subus_:
    return std::max(A - B, 0);
  case avgs_:
    return X + Y >= 0 ? (X + Y + 1) >> 1 : (X + Y) >> 1;
  case avgu_:
    return (A + B + 1) >> 1;
  case haddu_:
    return (A + B) >> 1;
  case maxs_:
    return std::max(X, Y);
  case maxu_:
    return std::max(A, B);
  case mins_:
    return std::min(X, Y);
  case minu_:
    return std::min(A, B);
  case absdiffs_:
  case sads_:
    return std::abs(X - Y);
  case absdiffu_:
  case sadu_:
    return std::abs(A - B);
  case abs_:
    return std::abs(X);
  case absss_:
    return signedLimit(std::abs(X));
  case neg_:
    return -X;
  case negss_:
    return signedLimit(-X);
  case cmpeq_:
  case seteq_:
    return flag(A == B, cmpeq_);
  case cmpne_:
  case setne_:
    return flag(A != B, cmpne_);
  case cmpgts_:
  case setgts_:
    return flag(X > Y, cmpgts_);
  case cmpgtu_:
  case setgtu_:
    return flag(A > B, cmpgtu_);
  case cmpges_:
  case setges_:
    return flag(X >= Y, cmpges_);
  case cmpgeu_:
  case setgeu_:
    return flag(A >= B, cmpgeu_);
  case cmplts_:
  case setlts_:
    return flag(X < Y, cmplts_);
  case cmpltu_:
  case setltu_:
    return flag(A < B, cmpltu_);
  case cmples_:
  case setles_:
    return flag(X <= Y, cmples_);
  case cmpleu_:
  case setleu_:
    return flag(A <= B, cmpleu_);
  case Operations:
    break;
  }
  abort();
}

static unsigned word(Operation op, int bits, unsigned a, unsigned b) {
  const unsigned mask = (1u << bits) - 1;
  unsigned result = 0;
  for (int shift = 0; shift < 32; shift += bits) {
    const unsigned part =
        lane(op, bits, (a >> shift) & mask, (b >> shift) & mask);
    if (op == sads_ || op == sadu_)
      result += part;
    else
      result |= (part & mask) << shift;
  }
  return result;
}

int main() {
  std::vector<unsigned> x, y;
  // Each pair of bytes in one lane; the neighbours are another pair each time.
  for (unsigned a = 0; a < 256; ++a)
    for (unsigned b = 0; b < 256; ++b) {
      const unsigned turn = (a + b) % 4 * 8;
      const unsigned lanes[] = {a | (b << 8) | (a * 29 % 256) << 16 | b << 24,
                                b | (a << 8) | (b * 31 % 256) << 16 |
                                    (255 - a) << 24};
      x.push_back(lanes[0] << turn | (turn ? lanes[0] >> (32 - turn) : 0));
      y.push_back(lanes[1] << turn | (turn ? lanes[1] >> (32 - turn) : 0));
    }
  const unsigned halves[] = {0,      1,      2,      0x7e,   0x7f,   0x80,
                             0xff,   0x100,  0x7ffe, 0x7fff, 0x8000, 0x8001,
                             0xff7f, 0xff80, 0xfffe, 0xffff, 0x1234, 0xbeef};
  for (unsigned a : halves)
    for (unsigned b : halves)
      for (unsigned c : halves) {
        x.push_back(a | c << 16);
        y.push_back(b | a << 16);
      }
  const int n = int(x.size());
  unsigned *dx = onDevice<unsigned>(n), *dy = onDevice<unsigned>(n);
  unsigned *out = onDevice<unsigned>(size_t(n) * 2 * Operations);
  CHECK(cudaMemcpy(dx, x.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dy, y.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  all<<<(n + 255) / 256, 256>>>(dx, dy, out, n);
  auto results = fetch(out, size_t(n) * 2 * Operations);
  for (int i = 0; i < n; ++i)
    for (int op = 0; op < 2 * Operations; ++op) {
      const int bits = op < Operations ? 16 : 8;
      const Operation which = Operation(op % Operations);
      const unsigned expected = word(which, bits, x[i], y[i]);
      const unsigned found = results[size_t(i) * 2 * Operations + op];
      if (found != expected) {
        fprintf(stderr, "__v%s%d(0x%08x, 0x%08x) is 0x%08x, expected 0x%08x\n",
                Names[which], 32 / bits, x[i], y[i], found, expected);
        return 1;
      }
    }
  return 0;
}
