package clock_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
)

// The first number in /proc/uptime is CLOCK_BOOTTIME in seconds, cut to
// hundredths; see proc_uptime(5). Some containers are shown a later start, so
// the clock may be ahead of it.
func TestBootIsTheTimeSinceTheMachineWasStarted(t *testing.T) {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	var whole, hundredths int64
	if _, err := fmt.Sscanf(string(text), "%d.%d", &whole, &hundredths); err != nil {
		t.Fatal(err)
	}
	uptime := time.Duration(whole)*time.Second + time.Duration(hundredths)*10*time.Millisecond
	now := clock.System().Now()
	if now.Boot < uptime {
		t.Errorf("boot = %v, and the kernel was up for %v before", now.Boot, uptime)
	}
	if year := now.Wall.Add(-now.Boot).Year(); year < 2000 {
		t.Errorf("boot = %v, which is no uptime: started in %d", now.Boot, year)
	}
}
