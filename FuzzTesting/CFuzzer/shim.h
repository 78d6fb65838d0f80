#ifndef BRIDGETAP_CFUZZER_SHIM_H
#define BRIDGETAP_CFUZZER_SHIM_H

#include <stddef.h>
#include <stdint.h>

// libFuzzer's entry for programs with a main of their own (llvm.org, "Using libFuzzer as a
// library"); the compiler's runtime has it and brings no header.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
