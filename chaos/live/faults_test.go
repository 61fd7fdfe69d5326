//go:build unix

package live

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// proved fails the test unless a fault took effect, and shows its proof.
func proved(t *testing.T) func(proof string, err error) string {
	return func(proof string, err error) string {
		t.Helper()
		must(t, err)
		t.Log(proof)
		return proof
	}
}

func TestPausedNodeHangsAndThenAnswersWhatCameMeanwhile(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		mustSay(t, n.Resume(ctx), "not paused")
		proof := proved(t)(n.Pause(ctx))
		if emulated := strings.HasPrefix(proof, "emulated:"); emulated != (c.Kind == Embedded) {
			t.Errorf("%v says %q", c.Kind, proof)
		}
		_, err := n.Pause(ctx)
		mustSay(t, err, "is paused")
		_, err = n.StepClock(ctx, time.Minute)
		mustSay(t, err, "is paused")

		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		_, err = n.Time(short)
		mustBe(t, err, context.DeadlineExceeded)

		conn, err := net.Dial("tcp", n.Addr())
		must(t, err)
		defer conn.Close()
		_, err = conn.Write([]byte(encode("SET", "lock", "1")))
		must(t, err)
		must(t, n.Resume(ctx))
		reply, err := bufio.NewReader(conn).ReadString('\n')
		must(t, err)
		if reply != "+OK\r\n" {
			t.Errorf("the request that came during the pause is answered %q", reply)
		}
	})
}

func TestPausedNodeCanBeKilled(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		proved(t)(n.Pause(ctx))
		must(t, n.Kill(ctx))
		must(t, n.Restart(ctx))
		command(t, n.Addr(), "PING")
		proved(t)(n.Pause(ctx))
		must(t, n.Close())
	})
}

func TestPowerLossTakesWhatWasNotOnDisk(t *testing.T) {
	for persistence, kept := range map[Persistence]string{None: "0", AOFAlways: "2", AOFEverysec: "1"} {
		t.Run([]string{"none", "always", "everysec"}[persistence], func(t *testing.T) {
			onEachKind(t, func(t *testing.T, c Config) {
				c.Persistence = persistence
				n := startNodes(t, c)[0]
				ctx := bounded(t)
				command(t, n.Addr(), "SET", "old", "1")
				if c.Persistence == AOFEverysec {
					if c.Kind == Embedded {
						_, err := n.PowerLoss(ctx)
						mustBe(t, err, ErrUnsupported)
						return
					}
					// All that is there is on the disk; the next write is not.
					must(t, n.(*serverNode).aof.sync())
				}
				command(t, n.Addr(), "SET", "new", "1")
				proof := proved(t)(n.PowerLoss(ctx))
				if got := command(t, n.Addr(), "EXISTS", "old", "new"); got != kept {
					t.Errorf("%s keys are left, want %s: %s", got, kept, proof)
				}
				if c.Persistence == AOFEverysec && !strings.HasPrefix(proof, "emulated:") {
					t.Errorf("it does not say that it is emulated: %q", proof)
				}
			})
		})
	}
}

func TestPowerLossThatLosesNothingIsNone(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		if c.Kind == Embedded {
			return
		}
		c.Persistence = AOFEverysec
		n := startNodes(t, c)[0]
		command(t, n.Addr(), "SET", "old", "1")
		must(t, n.(*serverNode).aof.sync())
		_, err := n.PowerLoss(bounded(t))
		mustBe(t, err, ErrNoEffect)
	})
}

func TestDriftingClockLosesTimeAndRunsRightAgain(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		if !needsClock(t, c) {
			return
		}
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		_, err := n.StepClock(ctx, time.Hour)
		must(t, err)
		begun := time.Now()
		proved(t)(n.Drift(ctx, 0.5))
		<-time.After(200 * time.Millisecond)
		proved(t)(n.Drift(ctx, 1))
		now, err := n.Time(ctx)
		must(t, err)
		lost := time.Since(begun) - now.Sub(begun.Add(time.Hour))
		if lost < 100*time.Millisecond || lost > time.Since(begun)/2+10*time.Millisecond {
			t.Errorf("in %v at half speed and some at full the clock lost %v", time.Since(begun), lost)
		}
		proved(t)(n.Drift(ctx, 1.5))
		for _, rate := range []float64{0, -1, 11} {
			if _, err := n.Drift(ctx, rate); err == nil {
				t.Errorf("rate %v is accepted", rate)
			}
		}
	})
}

func TestDriftTooSmallToProveIsRefused(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		if !needsClock(t, c) {
			return
		}
		n := startNodes(t, c)[0]
		for _, rate := range []float64{1, 1.0001} {
			_, err := n.Drift(bounded(t), rate)
			mustBe(t, err, ErrUnsupported)
		}
	})
}

func TestFlushedNodeHasNoKeys(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		_, err := n.FlushAll(ctx)
		mustBe(t, err, ErrNoEffect)
		command(t, n.Addr(), "SET", "lock", "1")
		proved(t)(n.FlushAll(ctx))
		if got := command(t, n.Addr(), "EXISTS", "lock"); got != "0" {
			t.Error("the lock is still there")
		}
	})
}

func TestMemoryPressureEvictsTheLock(t *testing.T) {
	for _, policy := range []string{"allkeys-lru", "volatile-lru"} {
		t.Run(policy, func(t *testing.T) {
			onEachKind(t, func(t *testing.T, c Config) {
				n := startNodes(t, c)[0]
				command(t, n.Addr(), "SET", "lock", "1", "PX", "600000")
				command(t, n.Addr(), "SET", "stays", "1")
				proof := proved(t)(n.Evict(bounded(t), policy, "lock"))
				if emulated := strings.HasPrefix(proof, "emulated:"); emulated != (c.Kind == Embedded) {
					t.Errorf("%v says %q", c.Kind, proof)
				}
				if got := command(t, n.Addr(), "EXISTS", "lock"); got != "0" {
					t.Error("the lock is still there")
				}
				if policy == "volatile-lru" {
					if got := command(t, n.Addr(), "DBSIZE"); got != "1" {
						t.Errorf("DBSIZE is %s, want the key without a TTL and no filler", got)
					}
				}
				command(t, n.Addr(), "SET", "lock", strings.Repeat("x", headroom/2))
			})
		})
	}
}

func TestEvictionThatCannotBeSeenIsNone(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		_, err := n.Evict(ctx, "allkeys-lru", "lock")
		mustBe(t, err, ErrNoEffect) // it is not there
		command(t, n.Addr(), "SET", "lock", "1")
		_, err = n.Evict(ctx, "volatile-lru", "lock")
		mustBe(t, err, ErrNoEffect) // it has no TTL
		command(t, n.Addr(), "SET", "another", "1")
	})
}
