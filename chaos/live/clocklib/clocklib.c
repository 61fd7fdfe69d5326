/*
 * The wall clock of one redis-server, moved by an offset.
 *
 * Preloaded into redis-server, this library answers for gettimeofday, clock_gettime and time. The wall clock is the
 * kernel's plus an offset in nanoseconds, which the harness keeps in a file of 8 bytes that both sides map into memory.
 * The file's path is in QUORUMLOCK_CLOCK_FILE; without it the clock is the kernel's.
 *
 * The allocator reads the clock before main, and before this library has run. So nothing here allocates, looks up a
 * symbol, or needs its constructor to have run: until then the offset is 0. A forked child inherits the mapping.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(time_t) == 8 && sizeof(long) == 8, "the clock library needs a 64-bit system");

static const int64_t second = 1000000000;

static const int64_t no_offset;
static const int64_t *offset = &no_offset;

__attribute__((constructor)) static void map_offset(void)
{
	const char *path = getenv("QUORUMLOCK_CLOCK_FILE");
	if (path == NULL)
		return;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	void *at = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED)
		__atomic_store_n(&offset, (const int64_t *)at, __ATOMIC_RELEASE);
}

/* Straight to the kernel: the C library's own function may be this one. It sets errno as the C library does. */
static int read_clock(clockid_t id, struct timespec *ts)
{
	long result = syscall(SYS_clock_gettime, id, ts);
	if (result != 0 || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
		return (int)result;

	int64_t moved = __atomic_load_n(__atomic_load_n(&offset, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);
	int64_t nsec = ts->tv_nsec + moved % second;
	int64_t sec = ts->tv_sec + moved / second;
	if (nsec >= second) {
		nsec -= second;
		sec++;
	} else if (nsec < 0) {
		nsec += second;
		sec--;
	}
	ts->tv_sec = sec;
	ts->tv_nsec = nsec;
	return 0;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	return read_clock(id, ts);
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	struct timespec ts;
	if (read_clock(CLOCK_REALTIME, &ts) != 0)
		return -1;
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	if (tz != NULL)
		*(struct timezone *)tz = (struct timezone){0};
	return 0;
}

time_t time(time_t *result)
{
	struct timespec ts;
	if (read_clock(CLOCK_REALTIME, &ts) != 0)
		return (time_t)-1;
	if (result != NULL)
		*result = ts.tv_sec;
	return ts.tv_sec;
}
