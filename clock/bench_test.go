package clock_test

import (
	"context"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
)

func BenchmarkNow(b *testing.B) {
	for name, c := range map[string]clock.Clock{
		"System":  clock.System(),
		"Runtime": clock.Runtime(),
		"Skewed":  clock.NewSkewed(clock.System()),
		"Virtual": clock.NewVirtual(noon),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Now()
			}
		})
	}
}

func BenchmarkAfterFuncAndStop(b *testing.B) {
	for name, c := range map[string]clock.Clock{
		"System":  clock.System(),
		"Skewed":  clock.NewSkewed(clock.System()),
		"Virtual": clock.NewVirtual(noon),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.AfterFunc(10*time.Second, func() {})()
			}
		})
	}
}

// A service that holds 10,000 locks has that many leases to watch.
func BenchmarkAfterFuncAndStopBesideManyPending(b *testing.B) {
	c := clock.System()
	for range 10_000 {
		defer c.AfterFunc(time.Hour, func() {})()
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.AfterFunc(10*time.Second, func() {})()
		}
	})
}

func BenchmarkWithTimeout(b *testing.B) {
	c := clock.System()
	b.ReportAllocs()
	for b.Loop() {
		_, cancel := clock.WithTimeout(context.Background(), c, 10*time.Second)
		cancel()
	}
}
