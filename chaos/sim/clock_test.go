package sim

import (
	"context"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
)

// However slow a clock is, to wait for ever by it takes for ever, and to wait for long does not overflow.
func TestASlowClockWaitsLonger(t *testing.T) {
	var k kernel
	defer k.close()
	for _, test := range []struct {
		rate  float64
		sleep time.Duration
		least time.Duration
	}{
		{1, time.Second, time.Second},
		{0.5, time.Second, 2 * time.Second},
		{0.5, clock.Forever - 1, horizon},
		{0.5, clock.Forever, horizon},
		{1, clock.Forever, horizon},
	} {
		k.reset()
		h := new(host)
		c := hostClock{kernel: &k, host: h, rate: 1}
		c.setRate(test.rate)
		woke := time.Duration(-1)
		k.spawn(h, 0, func() {
			if c.Sleep(context.Background(), test.sleep) == nil {
				woke = k.now
			}
		})
		k.spawn(h, horizon, func() {})
		k.run(horizon, func() bool { return false })
		if woke >= 0 && (woke < test.least || test.sleep == clock.Forever) {
			t.Errorf("rate %v: to sleep for %v took %v", test.rate, test.sleep, woke)
		}
		if woke < 0 && test.least < horizon {
			t.Errorf("rate %v: to sleep for %v does not end", test.rate, test.sleep)
		}
	}
}
