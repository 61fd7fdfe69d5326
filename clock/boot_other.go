//go:build !linux

package clock

import "time"

func bootTime() (boot time.Duration, ok bool) { return 0, false }
