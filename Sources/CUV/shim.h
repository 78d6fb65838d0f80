#ifndef BRIDGETAP_CUV_H
#define BRIDGETAP_CUV_H

#include <uv.h>

#endif
