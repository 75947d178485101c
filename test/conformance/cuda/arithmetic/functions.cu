// Mathematical functions of both precisions against the host's, and the
// approximate ones within their documented error.
// RUN: %conforms %s
#include "conformance.h"
#include <cmath>

const int N = 40;

#define FUNCTIONS(F)                                                           \
  F(sin, x)                                                                    \
  F(cos, x)                                                                    \
  F(tan, x)                                                                    \
  F(asin, x / 8)                                                               \
  F(acos, x / 8)                                                               \
  F(atan, x)                                                                   \
  F(sinh, x)                                                                   \
  F(cosh, x)                                                                   \
  F(tanh, x)                                                                   \
  F(asinh, x)                                                                  \
  F(exp, x)                                                                    \
  F(exp2, x)                                                                   \
  F(expm1, x)                                                                  \
  F(log, x + 5)                                                                \
  F(log2, x + 5)                                                               \
  F(log10, x + 5)                                                              \
  F(log1p, x + 5)                                                              \
  F(sqrt, x + 5)                                                               \
  F(cbrt, x)                                                                   \
  F(floor, x)                                                                  \
  F(ceil, x)                                                                   \
  F(trunc, x)                                                                  \
  F(round, x)                                                                  \
  F(rint, x)                                                                   \
  F(erf, x)                                                                    \
  F(erfc, x)                                                                   \
  F(tgamma, x + 5)                                                             \
  F(lgamma, x + 5)                                                             \
  F(fabs, x) F(acosh, x + 6) F(atanh, x / 8) F(j0, x) F(y1, x + 5)

#define PAIRS(F)                                                               \
  F(pow, x + 5, y)                                                             \
  F(atan2, x, y)                                                               \
  F(fmod, x, y)                                                                \
  F(hypot, x, y)                                                               \
  F(copysign, x, -y)                                                           \
  F(fmax, x, y) F(fmin, x, y) F(remainder, x, y) F(fdim, x, y)

template <typename T> __host__ __device__ void all(T x, T y, T *out) {
  int i = 0;
#define ONE(f, a) out[i++] = f(T(a));
#define TWO(f, a, b) out[i++] = f(T(a), T(b));
  FUNCTIONS(ONE)
  PAIRS(TWO)
  out[i++] = fma(x, y, T(1));
  out[i++] = ldexp(x, 3);
  int exponent;
  out[i++] = frexp(x + T(5), &exponent) + exponent;
  T whole;
  out[i++] = modf(x, &whole) + whole;
}
const int Results = 33 + 9 + 4;

template <typename T> __global__ void onDevice(const T *x, T *out) {
  all(x[threadIdx.x], T(1.25), out + threadIdx.x * Results);
}

template <typename T> void compare(double tolerance) {
  std::vector<T> x(N);
  for (int i = 0; i < N; ++i)
    x[i] = T(-4.4 + i * 0.21);
  T *out = onDevice<T>(N * Results);
  onDevice<<<1, N>>>(onDevice(x), out);
  auto h = fetch(out, N * Results);
  for (int i = 0; i < N; ++i) {
    T own[Results];
    all(x[i], T(1.25), own);
    for (int k = 0; k < Results; ++k) {
      double a = h[i * Results + k], b = own[k];
      if (!(fabs(a - b) <= tolerance * (1 + fabs(b))) && !(a != a && b != b)) {
        fprintf(stderr, "function %d at %g: %.9g, expected %.9g\n", k,
                double(x[i]), a, b);
        exit(EXIT_FAILURE);
      }
    }
  }
}

__global__ void special(float *out) {
  float x = 0.7f;
  int i = 0;
  out[i++] = __sinf(x), out[i++] = __cosf(x), out[i++] = __expf(x);
  out[i++] = __logf(x), out[i++] = __powf(x, 2.5f), out[i++] = __fdividef(x, 3);
  out[i++] = rsqrtf(x), out[i++] = __frcp_rn(x), out[i++] = __fsqrt_rn(x);
  out[i++] = sinpif(x), out[i++] = cospif(x), out[i++] = __saturatef(1.5f);
  float s, c;
  sincosf(x, &s, &c);
  out[i++] = s, out[i++] = c;
  out[i++] = normcdff(x), out[i++] = erfinvf(x), out[i++] = exp10f(x);
  out[i++] = rhypotf(3, 4), out[i++] = norm3df(1, 2, 2), out[i++] = erfcxf(x);
  out[i++] = __fmaf_rn(x, 2, 1), out[i++] = __fadd_ru(x, 0),
  out[i++] = rcbrtf(8);
}

int main() {
  compare<double>(1e-13);
  compare<float>(4e-6);
  float *out = onDevice<float>(23);
  special<<<1, 1>>>(out);
  auto h = fetch(out, 23);
  const double x = 0.7f, pi = 3.14159265358979;
  const double expected[] = {
      sin(x),      cos(x),      exp(x), log(x),  pow(x, 2.5),
      x / 3,       1 / sqrt(x), 1 / x,  sqrt(x), sin(pi * x),
      cos(pi * x), 1,           sin(x), cos(x),  0.5 * erfc(-x / sqrt(2.0)),
      0.732869,    pow(10, x),  0.2,    3,       exp(x * x) * erfc(x),
      2 * x + 1,   x,           0.5};
  for (int i = 0; i < 23; ++i)
    if (fabs(h[i] - expected[i]) > 1e-5) {
      fprintf(stderr, "special %d: %g, expected %g\n", i, h[i], expected[i]);
      return 1;
    }
  return 0;
}
