#ifndef BRIDGETAP_CZLIB_H
#define BRIDGETAP_CZLIB_H

#include <zlib.h>

/* deflateInit2 and inflateInit2 are macros that pass the version and the size of the stream. */

static inline int czlib_deflate_init(z_streamp stream, int level, int window_bits, int memory_level)
{
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

static inline int czlib_inflate_init(z_streamp stream, int window_bits)
{
    return inflateInit2(stream, window_bits);
}

#endif
