//go:build unix

package live

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// aof watches how the append-only file of a redis-server grows, to cut it back to what a disk has of it after a loss of
// power. SIGKILL is no such loss: what was written is in the kernel's hands, and stays.
type aof struct {
	dir  string
	stop func() // ends the watch

	mu    sync.Mutex
	sizes []aofSize // by time; the first is on the disk for certain
}

type aofSize struct {
	at    time.Time
	bytes int64
}

// atRisk is what appendfsync everysec may lose: what was answered in that time. (Redis says one second, and two if the
// disk is slow.)
const atRisk = time.Second

// file is what the server appends to: from Redis 7 on the last of several, numbered, and before that the only one.
func (a *aof) file() string {
	parts, err := filepath.Glob(filepath.Join(a.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(parts) == 0 {
		return filepath.Join(a.dir, "appendonly.aof")
	}
	return slices.MaxFunc(parts, func(x, y string) int {
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	})
}

// sync brings all that is in the file to the disk, so that no loss of power takes it.
func (a *aof) sync() error {
	f, err := os.OpenFile(a.file(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	// The size comes first: of what comes later Sync might not know.
	about, err := f.Stat()
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.sizes = []aofSize{{time.Now(), about.Size()}}
	a.mu.Unlock()
	return f.Sync()
}

// watch begins to look at the size, every so often, until unwatch.
func (a *aof) watch() error {
	if err := a.sync(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		const every = 20 * time.Millisecond
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				a.look(now)
			case <-ctx.Done():
				return
			}
		}
	})
	a.stop = func() {
		cancel()
		watching.Wait()
	}
	return nil
}

func (a *aof) unwatch() {
	if a.stop != nil {
		a.stop()
		a.stop = nil
	}
}

// look notes the size that the file has by then.
func (a *aof) look(now time.Time) {
	about, err := os.Stat(a.file())
	if err != nil {
		return // it will be seen later
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sizes[len(a.sizes)-1].bytes != about.Size() {
		a.sizes = append(a.sizes, aofSize{now, about.Size()})
	}
	for len(a.sizes) > 1 && now.Sub(a.sizes[1].at) >= atRisk {
		a.sizes = a.sizes[1:]
	}
}

// cut shortens the file of a server that is down to what was at risk no more at that time, and returns the sizes.
func (a *aof) cut(at time.Time) (from, to int64, err error) {
	about, err := os.Stat(a.file())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	to = a.sizes[0].bytes
	for _, s := range a.sizes[1:] {
		if at.Sub(s.at) >= atRisk {
			to = s.bytes
		}
	}
	return about.Size(), to, os.Truncate(a.file(), to)
}
