#ifndef BRIDGETAP_CPCAP_H
#define BRIDGETAP_CPCAP_H

#include <pcap/pcap.h>
#include <stdio.h>
#include <sys/types.h>

/* glibc's fopencookie(3), which <stdio.h> shows with _GNU_SOURCE only: a stream that calls back. */

struct cpcap_stream_functions {
    ssize_t (*read)(void *cookie, char *target, size_t count);
    ssize_t (*write)(void *cookie, const char *source, size_t count);
    int (*seek)(void *cookie, long *offset, int whence);
    int (*close)(void *cookie);
};

FILE *cpcap_open_stream(void *cookie, const char *mode, struct cpcap_stream_functions functions)
    __asm__("fopencookie");

#endif
