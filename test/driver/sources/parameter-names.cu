// Macros of the command line do not replace what cuda.h, which nvcc does not read by itself, calls its parameters.
// RUN: %cc -fsyntax-only -Werror -DN=2048 -DC=1 -DT=float -DWidth=3 -DHeight=4 -DFlags=5 -DPitch=6 -DByteCount=7 -DWidthInBytes=8 %s
static_assert(N + Width + Height + Flags + Pitch + ByteCount + WidthInBytes ==
                  2081,
              "as the command line says");
__global__ void scale(T *data) { data[threadIdx.x] *= N * C; }
