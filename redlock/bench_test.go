package redlock_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/chaos/live"
	"github.com/b6e7cabe/quorumlock/internal/testenv"
	"github.com/b6e7cabe/quorumlock/quorum"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// BenchmarkPair times an acquire and its release on five local redis-servers, and in the same run the bare bound: the
// same number of SET NX PX and then of DEL, sent to each of five masters as one pipeline, of which the third reply
// counts. ns/op is the pair's, by wall clock over all callers; "bound-ns/op" the bound's; "x-bound" their ratio.
func BenchmarkPair(b *testing.B) {
	if _, ok := testenv.RedisServer(b); !ok {
		return
	}
	nodes, err := live.StartNodes(b.Context(), live.Config{Kind: live.Process, N: 5, Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	var clients []redis.UniversalClient
	for _, n := range nodes {
		b.Cleanup(func() { n.Close() })
		client := redis.NewClient(&redis.Options{Addr: n.Addr()})
		b.Cleanup(func() { client.Close() })
		clients = append(clients, client)
	}
	// A busy machine makes a benchmark slow; it should not make it fail.
	locks, err := redlock.New(clients, redlock.WithNodeTimeout(5*time.Second))
	if err != nil {
		b.Fatal(err)
	}
	for _, callers := range []int{1, 128} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			b.ReportAllocs()
			pairs(b, locks, callers, b.N) // once unmeasured, so that connections and scripts are there
			b.ResetTimer()
			pairs(b, locks, callers, b.N)
			took := b.Elapsed()
			b.StopTimer()

			start := time.Now()
			for done := 0; done < b.N; done += callers {
				bound(b, clients, min(callers, b.N-done))
			}
			boundTook := time.Since(start)
			b.ReportMetric(float64(boundTook.Nanoseconds())/float64(b.N), "bound-ns/op")
			b.ReportMetric(float64(took)/float64(boundTook), "x-bound")
		})
	}
}

// pairs makes n pairs, each caller with a lock of its own.
func pairs(b *testing.B, locks *redlock.Client, callers, n int) {
	var left atomic.Int64
	left.Store(int64(n))
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			name := fmt.Sprintf("bench-%d", caller)
			for left.Add(-1) >= 0 {
				l, err := locks.Acquire(context.Background(), name)
				if err != nil {
					b.Error(err)
					return
				}
				if err := l.Release(context.Background()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// bound makes n pairs in two round trips.
func bound(b *testing.B, masters []redis.UniversalClient, n int) {
	ctx := context.Background()
	third := func(queue func(p redis.Pipeliner, key string)) {
		answers := 0
		for _, err := range quorum.Ask(ctx, len(masters), func(i int, answer func(error)) {
			go func() {
				_, err := masters[i].Pipelined(ctx, func(p redis.Pipeliner) error {
					for k := range n {
						queue(p, fmt.Sprintf("bound-%d", k))
					}
					return nil
				})
				answer(err)
			}()
		}) {
			if err != nil {
				b.Fatal(err)
			}
			if answers++; answers == 3 {
				break
			}
		}
	}
	third(func(p redis.Pipeliner, key string) {
		p.SetArgs(ctx, key, "value", redis.SetArgs{TTL: 10 * time.Second})
	})
	third(func(p redis.Pipeliner, key string) { p.Del(ctx, key) })
}
