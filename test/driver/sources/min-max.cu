// ::min and ::max as nvcc has them, on both sides: mixed signedness is unsigned.
// RUN: %cc -fsyntax-only -Werror %s
// RUN: %cc -fsyntax-only -Werror -DWITH_STD %s
// RUN: %cc -fsyntax-only -Werror -std=c++11 %s

#ifdef WITH_STD
#include <algorithm>
using namespace std;
#endif

template <class A, class B> struct Same {
  static const bool value = false;
};
template <class A> struct Same<A, A> {
  static const bool value = true;
};

template <class A, class B, class R> __host__ __device__ void check() {
  static_assert(Same<decltype(min(A(), B())), R>::value, "min");
  static_assert(Same<decltype(max(A(), B())), R>::value, "max");
}

template <class S, class U> __host__ __device__ void checkIntegers() {
  check<S, S, S>();
  check<U, U, U>();
  check<S, U, U>();
  check<U, S, U>();
}

__host__ __device__ void checkAll() {
  checkIntegers<int, unsigned>();
  checkIntegers<long, unsigned long>();
  checkIntegers<long long, unsigned long long>();
  check<float, float, float>();
  check<double, double, double>();
  check<float, double, double>();
  check<double, float, double>();
}

void host(size_t n) {
  checkAll();
  // Converts to the one overload for both.
  struct Four {
    operator int() const { return 4; }
  };
  int four = max(Four(), 3);
  size_t less = min(n, 100ul) + ::max(four, 3);
  (void)less;
}

__global__ void kernel() { checkAll(); }
