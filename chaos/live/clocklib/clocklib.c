/*
 * The wall clock of one redis-server, moved by an offset and running at a rate.
 *
 * Preloaded into redis-server, this library answers for gettimeofday, clock_gettime and time. The wall clock is the
 * kernel's, plus an offset, plus a rate times what has passed since the rate was set. The harness keeps these in a file
 * that both sides map into memory. The file's path is in QUORUMLOCK_CLOCK_FILE; without it the clock is the kernel's.
 *
 * The allocator reads the clock before main, and before this library has run. So nothing here allocates, looks up a
 * symbol, or needs its constructor to have run: until then the clock is the kernel's. A forked child inherits the mapping.
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

/* What the harness writes. While it does, the sequence is odd. */
struct warp {
	uint64_t sequence;
	int64_t offset; /* in nanoseconds */
	int64_t ppm;    /* microseconds that are gained in a second */
	int64_t since;  /* when the rate was set, by the kernel's clock, in nanoseconds */
};

static const struct warp none;
static const struct warp *warp = &none;

__attribute__((constructor)) static void map_warp(void)
{
	const char *path = getenv("QUORUMLOCK_CLOCK_FILE");
	if (path == NULL)
		return;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	void *at = mmap(NULL, sizeof *warp, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED)
		__atomic_store_n(&warp, (const struct warp *)at, __ATOMIC_RELEASE);
}

/*
 * How far the clock is off at a time of the kernel's. A harness that dies while it writes leaves the sequence odd, so the
 * reader does not wait for ever.
 */
static int64_t moved(int64_t now)
{
	const struct warp *w = __atomic_load_n(&warp, __ATOMIC_ACQUIRE);
	int64_t offset = 0, ppm = 0, since = 0;
	for (int tries = 0; tries < 100000; tries++) {
		uint64_t sequence = __atomic_load_n(&w->sequence, __ATOMIC_ACQUIRE);
		offset = __atomic_load_n(&w->offset, __ATOMIC_RELAXED);
		ppm = __atomic_load_n(&w->ppm, __ATOMIC_RELAXED);
		since = __atomic_load_n(&w->since, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (sequence % 2 == 0 && __atomic_load_n(&w->sequence, __ATOMIC_RELAXED) == sequence)
			break;
	}
	/* In two parts, or a day would overflow. */
	int64_t passed = now - since;
	return offset + passed / 1000000 * ppm + passed % 1000000 * ppm / 1000000;
}

/* Straight to the kernel: the C library's own function may be this one. It sets errno as the C library does. */
static int read_clock(clockid_t id, struct timespec *ts)
{
	long result = syscall(SYS_clock_gettime, id, ts);
	if (result != 0 || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
		return (int)result;

	int64_t by = moved(ts->tv_sec * second + ts->tv_nsec);
	int64_t nsec = ts->tv_nsec + by % second;
	int64_t sec = ts->tv_sec + by / second;
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
