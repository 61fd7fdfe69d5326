/* Prints, in seconds, how far each clock that a program may read is from the kernel's, here and in a forked child. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double kernel(clockid_t id)
{
	struct timespec ts;
	syscall(SYS_clock_gettime, id, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static double of(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void print(void)
{
	struct timeval tv;
	long before, now;
	gettimeofday(&tv, NULL);
	printf("gettimeofday %.0f\n", tv.tv_sec + tv.tv_usec / 1e6 - kernel(CLOCK_REALTIME));
	printf("realtime %.0f\n", of(CLOCK_REALTIME) - kernel(CLOCK_REALTIME));
	printf("coarse %.0f\n", of(CLOCK_REALTIME_COARSE) - kernel(CLOCK_REALTIME));
	do { /* until both fall into one second */
		before = (long)kernel(CLOCK_REALTIME);
		now = time(NULL);
	} while (before != (long)kernel(CLOCK_REALTIME));
	printf("time %ld\n", now - before);
	printf("monotonic %.0f\n", of(CLOCK_MONOTONIC) - kernel(CLOCK_MONOTONIC));
	fflush(stdout);
}

int main(void)
{
	print();
	if (fork() == 0) {
		print();
		return 0;
	}
	wait(NULL);
	return 0;
}
