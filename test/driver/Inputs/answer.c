#ifdef __cplusplus
#error "this is C"
#endif
#include <dragon/dragon.h>

int answer(void) { return DRAGON_OK; }
