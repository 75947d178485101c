#ifndef OWN_CUDA_H
#define OWN_CUDA_H
inline int own() { return 1; }
#endif
