#ifndef BRIDGETAP_CZSTD_H
#define BRIDGETAP_CZSTD_H

#include <zstd.h>
#include <zstd_errors.h>

#endif
