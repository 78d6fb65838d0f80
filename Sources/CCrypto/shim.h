#ifndef BRIDGETAP_CCRYPTO_H
#define BRIDGETAP_CCRYPTO_H

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#endif
