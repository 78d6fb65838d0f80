// libuv, and the parts of the socket interface that Swift does not see: macros, calls that need
// _GNU_SOURCE, and sockaddr, whose casts are no business of a safe language. Each function gives
// back a negated error number on failure, so that nobody reads errno too late.
#ifndef BRIDGETAP_CUV_H
#define BRIDGETAP_CUV_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

// In the headers only with _GNU_SOURCE.
extern int accept4(int, struct sockaddr *, socklen_t *, int);
extern int pipe2(int[2], int);

#define CUV_RESULT(call) ((call) < 0 ? -errno : 0)

// An address in host byte order: `low` holds an IPv4 address, both hold an IPv6 one.
struct cuv_address {
    int family;  // 4 or 6; 0 for none
    uint16_t port;
    uint32_t scope;
    uint64_t high;
    uint64_t low;
};

static inline socklen_t cuv_pack(const struct cuv_address *from, struct sockaddr_storage *to) {
    memset(to, 0, sizeof *to);
    if (from->family == 4) {
        struct sockaddr_in *in = (struct sockaddr_in *)to;
        in->sin_family = AF_INET;
        in->sin_port = htons(from->port);
        in->sin_addr.s_addr = htonl((uint32_t)from->low);
        return sizeof *in;
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(from->port);
    in6->sin6_scope_id = from->scope;
    for (int i = 0; i < 8; i++) {
        in6->sin6_addr.s6_addr[i] = (uint8_t)(from->high >> (56 - 8 * i));
        in6->sin6_addr.s6_addr[8 + i] = (uint8_t)(from->low >> (56 - 8 * i));
    }
    return sizeof *in6;
}

static inline struct cuv_address cuv_unpack(const struct sockaddr *from) {
    struct cuv_address to = {0, 0, 0, 0, 0};
    if (from->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)from;
        to.family = 4;
        to.port = ntohs(in->sin_port);
        to.low = ntohl(in->sin_addr.s_addr);
    } else if (from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;
        to.family = 6;
        to.port = ntohs(in6->sin6_port);
        to.scope = in6->sin6_scope_id;
        for (int i = 0; i < 8; i++) {
            to.high = to.high << 8 | in6->sin6_addr.s6_addr[i];
            to.low = to.low << 8 | in6->sin6_addr.s6_addr[8 + i];
        }
    }
    return to;
}

static inline int cuv_socket(int family) {
    int fd = socket(family == 4 ? AF_INET : AF_INET6,
                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    return fd < 0 ? -errno : fd;
}

static inline int cuv_bind(int fd, struct cuv_address address) {
    struct sockaddr_storage storage;
    socklen_t length = cuv_pack(&address, &storage);
    return CUV_RESULT(bind(fd, (struct sockaddr *)&storage, length));
}

static inline int cuv_connect(int fd, struct cuv_address address) {
    struct sockaddr_storage storage;
    socklen_t length = cuv_pack(&address, &storage);
    return CUV_RESULT(connect(fd, (struct sockaddr *)&storage, length));
}

static inline int cuv_listen(int fd, int backlog) { return CUV_RESULT(listen(fd, backlog)); }

static inline int cuv_accept(int fd, struct cuv_address *peer) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof storage;
    int accepted = accept4(fd, (struct sockaddr *)&storage, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted < 0) return -errno;
    *peer = cuv_unpack((struct sockaddr *)&storage);
    return accepted;
}

static inline ssize_t cuv_receive(int fd, void *memory, size_t count) {
    ssize_t n;
    do n = recv(fd, memory, count, 0);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

static inline ssize_t cuv_send(int fd, const void *memory, size_t count) {
    ssize_t n;
    do n = send(fd, memory, count, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

static inline int cuv_shutdown_writing(int fd) { return CUV_RESULT(shutdown(fd, SHUT_WR)); }

// The pending error of a socket, which this call also clears; 0 for none.
static inline int cuv_take_error(int fd) {
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return errno;
    return error;
}

// How many bytes wait to be read.
static inline int cuv_unread(int fd) {
    int count = 0;
    return ioctl(fd, FIONREAD, &count) < 0 ? 0 : count;
}

static inline struct cuv_address cuv_local_address(int fd) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof storage;
    struct cuv_address none = {0, 0, 0, 0, 0};
    if (getsockname(fd, (struct sockaddr *)&storage, &length) < 0) return none;
    return cuv_unpack((struct sockaddr *)&storage);
}

// SO_ORIGINAL_DST and IP6T_SO_ORIGINAL_DST (linux/netfilter_ipv4.h, netfilter_ipv6/ip6_tables.h),
// whose headers do not go together with netinet/in.h.
static inline struct cuv_address cuv_original_destination(int fd, int family) {
    struct sockaddr_storage storage;
    memset(&storage, 0, sizeof storage);
    socklen_t length = sizeof storage;
    struct cuv_address none = {0, 0, 0, 0, 0};
    int level = family == 4 ? IPPROTO_IP : IPPROTO_IPV6;
    if (getsockopt(fd, level, 80, &storage, &length) < 0) return none;
    return cuv_unpack((struct sockaddr *)&storage);
}

static inline int cuv_set(int fd, int level, int option, int value) {
    return CUV_RESULT(setsockopt(fd, level, option, &value, sizeof value));
}

static inline int cuv_set_reuse_address(int fd) { return cuv_set(fd, SOL_SOCKET, SO_REUSEADDR, 1); }
static inline int cuv_set_no_delay(int fd) { return cuv_set(fd, IPPROTO_TCP, TCP_NODELAY, 1); }
static inline int cuv_set_dual_stack(int fd) { return cuv_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0); }
static inline int cuv_set_receive_buffer(int fd, int n) { return cuv_set(fd, SOL_SOCKET, SO_RCVBUF, n); }
static inline int cuv_set_send_buffer(int fd, int n) { return cuv_set(fd, SOL_SOCKET, SO_SNDBUF, n); }

// IPV6_TRANSPARENT is 75 (linux/in6.h).
static inline int cuv_set_transparent(int fd, int family) {
    return family == 4 ? cuv_set(fd, IPPROTO_IP, IP_TRANSPARENT, 1)
                       : cuv_set(fd, IPPROTO_IPV6, 75, 1);
}

static inline int cuv_set_keep_alive(int fd, int seconds) {
    int result = cuv_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    if (!result) result = cuv_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
    if (!result) result = cuv_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds < 10 ? seconds : 10);
    if (!result) result = cuv_set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
    return result;
}

static inline int cuv_set_device(int fd, const char *name) {
    return CUV_RESULT(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name)));
}

// Makes the next close of the socket send a reset.
static inline int cuv_reset_on_close(int fd) {
    struct linger linger = {1, 0};
    return CUV_RESULT(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
}

static inline int cuv_close(int fd) { return CUV_RESULT(close(fd)); }

static inline int cuv_interface_exists(const char *name) { return if_nametoindex(name) != 0; }

// Lets the process have as many descriptors as its hard limit allows.
static inline void cuv_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static inline void cuv_ignore_broken_pipes(void) { signal(SIGPIPE, SIG_IGN); }

static inline int64_t cuv_clock(clockid_t clock) {
    struct timespec time;
    return clock_gettime(clock, &time) < 0
               ? 0 : (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
static inline int64_t cuv_monotonic_time(void) { return cuv_clock(CLOCK_MONOTONIC); }
static inline int64_t cuv_wall_time(void) { return cuv_clock(CLOCK_REALTIME); }

static inline int cuv_open_append(const char *path, int truncate, int exclusive) {
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (truncate ? O_TRUNC : 0)
                | (exclusive ? O_EXCL : 0);
    int fd;
    do fd = open(path, flags, 0600);
    while (fd < 0 && errno == EINTR);
    struct stat status;
    if (fd < 0 && errno == EEXIST && stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        // A device or a pipe has nothing that could be written over.
        do fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
        while (fd < 0 && errno == EINTR);
    }
    return fd < 0 ? -errno : fd;
}

static inline ssize_t cuv_write(int fd, const void *memory, size_t count) {
    ssize_t n;
    do n = write(fd, memory, count);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

static inline ssize_t cuv_read(int fd, void *memory, size_t count) {
    ssize_t n;
    do n = read(fd, memory, count);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

// A pipe whose ends no child inherits by accident.
static inline int cuv_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

static inline int cuv_set_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 ? -errno : CUV_RESULT(fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

static inline int cuv_truncate(int fd, int64_t size) { return CUV_RESULT(ftruncate(fd, size)); }

static inline int64_t cuv_file_size(int fd) {
    struct stat status;
    return fstat(fd, &status) < 0 ? -errno : status.st_size;
}

#endif
