#ifndef BRIDGETAP_CMINIZIP_H
#define BRIDGETAP_CMINIZIP_H

#include <minizip/zip.h>

/* Begins a file of mode 0600 with a name in UTF-8, packed by deflate, of any size (APPNOTE 4.4). */

static inline int cminizip_begin(zipFile archive, const char *name, unsigned long dos_date)
{
    zip_fileinfo information = {.dosDate = dos_date, .external_fa = 0100600UL << 16};
    const unsigned long made_by_unix_4_5 = 3 << 8 | 45;
    const unsigned long name_is_utf8 = 1 << 11;
    return zipOpenNewFileInZip4_64(archive, name, &information, NULL, 0, NULL, 0, NULL,
                                   Z_DEFLATED, Z_DEFAULT_COMPRESSION, 0, -MAX_WBITS, 8,
                                   Z_DEFAULT_STRATEGY, NULL, 0, made_by_unix_4_5, name_is_utf8, 1);
}

#endif
