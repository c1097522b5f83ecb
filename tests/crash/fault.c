/* A library to preload: counts the calls of a Python process that change a file system, and at
 * call number FAULT_AT lets it die, tears the write in two, or has the disk be full from there on.
 *
 * FAULT_MODE   count: only count; the name of every call goes to the file FAULT_COUNT, one a line
 *              kill:  the process is killed before call FAULT_AT
 *              torn:  half of the write of call FAULT_AT is done, then the process is killed
 *              full:  call FAULT_AT and all later ones that would take space fail with ENOSPC
 *
 * Other programs that run with it (a shell on the way to Python) are left alone.
 */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static enum { OFF, COUNT, KILL, TORN, FULL } mode = OFF;
static long at = -1;
static long calls = 0;
static pid_t self_pid;
static char count_path[PATH_MAX];

/* What is asked of the caller at this call: go on, tear the write, or fail for want of space. */
enum fate { GO, TEAR, NO_SPACE };

__attribute__((noreturn)) static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static void tell(const char *name) {
    int file = syscall(SYS_openat, AT_FDCWD, count_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file >= 0) {
        syscall(SYS_write, file, name, strlen(name));
        syscall(SYS_write, file, "\n", 1);
        syscall(SYS_close, file);
    }
}

__attribute__((constructor)) static void begin(void) {
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *wanted = getenv("FAULT_MODE"), *number = getenv("FAULT_AT");
    const char *where = getenv("FAULT_COUNT"), *name;
    if (length < 0 || !wanted) return;
    self[length] = 0;
    name = strrchr(self, '/');
    if (!name || strncmp(name + 1, "python", 6)) return;
    self_pid = getpid();
    if (number) at = atol(number);
    if (where) strncpy(count_path, where, sizeof count_path - 1);
    if (!strcmp(wanted, "count")) mode = COUNT;
    if (!strcmp(wanted, "kill")) mode = KILL;
    if (!strcmp(wanted, "torn")) mode = TORN;
    if (!strcmp(wanted, "full")) mode = FULL;
}

/* One more call; `takes_space` if it would fail on a full disk. */
static enum fate step(const char *name, int takes_space) {
    /* A copy of the process that is about to become another program is not the one meant. */
    if (mode == OFF || getpid() != self_pid) return GO;
    calls++;
    if (mode == COUNT) tell(name);
    if (mode == KILL && calls == at) die();
    if (mode == TORN && calls == at) return TEAR;
    if (mode == FULL && calls >= at && takes_space) return NO_SPACE;
    return GO;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define FAIL(code) do { errno = code; return -1; } while (0)

/* A pipe or a terminal is never full: only files are. */
static int is_file(int fd) {
    struct stat found;
    return fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
}

ssize_t write(int fd, const void *data, size_t size) {
    REAL(write);
    switch (step(__func__, is_file(fd))) {
        case TEAR: real(fd, data, size / 2); die();
        case NO_SPACE: FAIL(ENOSPC);
        case GO: break;
    }
    return real(fd, data, size);
}

#define PWRITE(name, offset_type) \
    ssize_t name(int fd, const void *data, size_t size, offset_type offset) { \
        REAL(name); \
        switch (step(__func__, 1)) { \
            case TEAR: real(fd, data, size / 2, offset); die(); \
            case NO_SPACE: FAIL(ENOSPC); \
            case GO: break; \
        } \
        return real(fd, data, size, offset); \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    switch (step(__func__, is_file(fd))) {
        case TEAR: real(fd, parts, count / 2); die();
        case NO_SPACE: FAIL(ENOSPC);
        case GO: break;
    }
    return real(fd, parts, count);
}

#define PWRITEV(name, offset_type) \
    ssize_t name(int fd, const struct iovec *parts, int count, offset_type offset) { \
        REAL(name); \
        switch (step(__func__, 1)) { \
            case TEAR: real(fd, parts, count / 2, offset); die(); \
            case NO_SPACE: FAIL(ENOSPC); \
            case GO: break; \
        } \
        return real(fd, parts, count, offset); \
    }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

/* What cannot be torn is done or not done. */
#define WHOLE(takes_space) \
    switch (step(__func__, takes_space)) { \
        case TEAR: die(); \
        case NO_SPACE: FAIL(ENOSPC); \
        case GO: break; \
    }

int fsync(int fd) { REAL(fsync); WHOLE(0) return real(fd); }
int fdatasync(int fd) { REAL(fdatasync); WHOLE(0) return real(fd); }
int rename(const char *from, const char *to) { REAL(rename); WHOLE(0) return real(from, to); }
int unlink(const char *path) { REAL(unlink); WHOLE(0) return real(path); }
int rmdir(const char *path) { REAL(rmdir); WHOLE(0) return real(path); }
int link(const char *from, const char *to) { REAL(link); WHOLE(1) return real(from, to); }
int linkat(int from, const char *old, int to, const char *new, int flags) {
    REAL(linkat);
    WHOLE(1)
    return real(from, old, to, new, flags);
}
int mkdir(const char *path, mode_t bits) { REAL(mkdir); WHOLE(1) return real(path, bits); }

#define GROWS(fd, size) ({ struct stat found; fstat(fd, &found) == 0 && found.st_size < (size); })
int ftruncate(int fd, off_t size) { REAL(ftruncate); WHOLE(GROWS(fd, size)) return real(fd, size); }
int ftruncate64(int fd, off64_t size) {
    REAL(ftruncate64);
    WHOLE(GROWS(fd, size))
    return real(fd, size);
}

#define IS_NEW(path) (access(path, F_OK) != 0)
#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        mode_t bits = 0; \
        if (flags & O_CREAT) { \
            va_list rest; \
            va_start(rest, flags); \
            bits = va_arg(rest, mode_t); \
            va_end(rest); \
            WHOLE(IS_NEW(path)) \
        } \
        return real(path, flags, bits); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        REAL(name); \
        mode_t bits = 0; \
        if (flags & O_CREAT) { \
            va_list rest; \
            va_start(rest, flags); \
            bits = va_arg(rest, mode_t); \
            va_end(rest); \
            WHOLE(faccessat(folder, path, F_OK, 0) != 0) \
        } \
        return real(folder, path, flags, bits); \
    }
OPENAT(openat)
OPENAT(openat64)

/* Whoever asks how much room is left learns what the calls say. */
#define STATVFS(name, found_type) \
    int name(const char *path, struct found_type *found) { \
        REAL(name); \
        int status = real(path, found); \
        if (status == 0 && mode == FULL && calls >= at) found->f_bavail = found->f_bfree = 0; \
        return status; \
    }
STATVFS(statvfs, statvfs)
STATVFS(statvfs64, statvfs64)
