/* A library to preload: writes down every call of a Python process that changes a file system, with
 * the data, so that it can be worked out afterwards what a power loss at any moment would leave.
 *
 * RECORD_TO is the file of the record.  Files go by their inode, so that a rename does not confuse
 * them.  A record is a line, for some followed by as many bytes as its last number says:
 *
 *   create INODE LENGTH path     write INODE OFFSET LENGTH data    truncate INODE SIZE
 *   mkdir INODE LENGTH path      sync INODE                        answer
 *   unlink LENGTH path           rename LENGTH path LF path        link LENGTH path LF path
 *
 * Other programs that run with it (a shell on the way to Python) are left alone.
 */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int log_file = -1;
static pid_t self_pid;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *where = getenv("RECORD_TO"), *name;
    if (length < 0 || !where) return;
    self[length] = 0;
    name = strrchr(self, '/');
    if (!name || strncmp(name + 1, "python", 6)) return;
    self_pid = getpid();
    log_file = syscall(SYS_openat, AT_FDCWD, where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int recording(void) { return log_file >= 0 && getpid() == self_pid; }

static void put(const char *data, size_t size) {
    while (size > 0) {
        ssize_t done = syscall(SYS_write, log_file, data, size);
        if (done <= 0) _exit(99);
        data += done;
        size -= done;
    }
}

static void tell(const void *data, size_t size, const char *form, ...) {
    char line[256];
    va_list rest;
    int saved = errno;
    va_start(rest, form);
    int length = vsnprintf(line, sizeof line, form, rest);
    va_end(rest);
    pthread_mutex_lock(&one_at_a_time);
    put(line, length);
    put("\n", 1);
    if (data) put(data, size);
    pthread_mutex_unlock(&one_at_a_time);
    errno = saved;
}

/* The path of `name` from the root on, as seen from the folder `folder`. */
static const char *whole(int folder, const char *name, char *into) {
    char link[64];
    ssize_t length = 0;
    if (name[0] != '/') {
        if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        length = readlink(link, into, PATH_MAX - 1);
        if (length < 0) length = 0;
        into[length++] = '/';
    }
    snprintf(into + length, PATH_MAX - length, "%s", name);
    return into;
}

static void tell_path(const char *what, unsigned long inode, int folder, const char *name) {
    char path[PATH_MAX];
    whole(folder, name, path);
    if (inode) tell(path, strlen(path), "%s %lu %zu", what, inode, strlen(path));
    else tell(path, strlen(path), "%s %zu", what, strlen(path));
}

static void tell_paths(const char *what, int a, const char *from, int b, const char *to) {
    char paths[2 * PATH_MAX + 1];
    whole(a, from, paths);
    size_t first = strlen(paths);
    paths[first] = '\n';
    whole(b, to, paths + first + 1);
    tell(paths, strlen(paths), "%s %zu", what, strlen(paths));
}

/* The inode of an open file or folder; 0 for a pipe or a terminal. */
static unsigned long inode_of(int fd, off_t *size) {
    struct stat found;
    if (fstat(fd, &found) || !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) return 0;
    if (size) *size = found.st_size;
    return found.st_ino;
}

static off_t position(int fd) {
    off_t size = 0;
    if (fcntl(fd, F_GETFL) & O_APPEND) {
        inode_of(fd, &size);
        return size;
    }
    return lseek(fd, 0, SEEK_CUR);
}

static void wrote(int fd, const void *data, ssize_t size, off_t at) {
    unsigned long inode = size > 0 ? inode_of(fd, NULL) : 0;
    if (inode) tell(data, size, "write %lu %lld %zd", inode, (long long)at, size);
}

ssize_t write(int fd, const void *data, size_t size) {
    REAL(write);
    if (!recording()) return real(fd, data, size);
    if (fd == STDOUT_FILENO) tell(NULL, 0, "answer");
    off_t at = position(fd);
    ssize_t done = real(fd, data, size);
    if (fd != STDOUT_FILENO) wrote(fd, data, done, at);
    return done;
}

#define PWRITE(name, offset_type) \
    ssize_t name(int fd, const void *data, size_t size, offset_type offset) { \
        REAL(name); \
        ssize_t done = real(fd, data, size, offset); \
        if (recording()) wrote(fd, data, done, offset); \
        return done; \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define SYNC(name) \
    int name(int fd) { \
        REAL(name); \
        int status = real(fd); \
        if (recording() && status == 0) tell(NULL, 0, "sync %lu", inode_of(fd, NULL)); \
        return status; \
    }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, size_type) \
    int name(int fd, size_type size) { \
        REAL(name); \
        int status = real(fd, size); \
        if (recording() && status == 0) \
            tell(NULL, 0, "truncate %lu %lld", inode_of(fd, NULL), (long long)size); \
        return status; \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int mkdir(const char *path, mode_t bits) {
    REAL(mkdir);
    int status = real(path, bits);
    struct stat found;
    if (recording() && status == 0 && stat(path, &found) == 0)
        tell_path("mkdir", found.st_ino, AT_FDCWD, path);
    return status;
}

#define GONE(name) \
    int name(const char *path) { \
        REAL(name); \
        int status = real(path); \
        if (recording() && status == 0) tell_path("unlink", 0, AT_FDCWD, path); \
        return status; \
    }
GONE(unlink)
GONE(rmdir)

#define MOVED(name) \
    int name(const char *from, const char *to) { \
        REAL(name); \
        int status = real(from, to); \
        if (recording() && status == 0) tell_paths(#name, AT_FDCWD, from, AT_FDCWD, to); \
        return status; \
    }
MOVED(rename)
MOVED(link)

static void opened(int fd, int folder, const char *path, int flags, int is_new) {
    unsigned long inode = fd >= 0 ? inode_of(fd, NULL) : 0;
    if (inode && is_new) tell_path("create", inode, folder, path);
    else if (inode && (flags & O_TRUNC)) tell(NULL, 0, "truncate %lu 0", inode);
}

#define BITS \
    mode_t bits = 0; \
    if (flags & O_CREAT) { \
        va_list rest; \
        va_start(rest, flags); \
        bits = va_arg(rest, mode_t); \
        va_end(rest); \
    }

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        BITS \
        if (!recording()) return real(path, flags, bits); \
        int is_new = (flags & O_CREAT) && faccessat(AT_FDCWD, path, F_OK, 0) != 0; \
        int fd = real(path, flags, bits); \
        opened(fd, AT_FDCWD, path, flags, is_new); \
        return fd; \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        REAL(name); \
        BITS \
        if (!recording()) return real(folder, path, flags, bits); \
        int is_new = (flags & O_CREAT) && faccessat(folder, path, F_OK, 0) != 0; \
        int fd = real(folder, path, flags, bits); \
        opened(fd, folder, path, flags, is_new); \
        return fd; \
    }
OPENAT(openat)
OPENAT(openat64)
