package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos/sim"
)

// bar shows how far a search is: in place on a terminal, now and then a line elsewhere.
type bar struct {
	quit, done chan struct{}
}

func startBar(w io.Writer, p *sim.Progress) *bar {
	b := &bar{make(chan struct{}), make(chan struct{})}
	every, begin, end := 10*time.Second, "", "\n"
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			every, begin, end = 200*time.Millisecond, "\r\033[K", ""
		}
	}
	start := time.Now()
	go func() {
		defer close(b.done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				fmt.Fprint(w, begin, line(p, time.Since(start)), end)
			case <-b.quit:
				fmt.Fprint(w, begin)
				return
			}
		}
	}()
	return b
}

func (b *bar) stop() {
	close(b.quit)
	<-b.done
}

// line says what is done, how fast it goes, and how long the rest will take if it goes on like that.
func line(p *sim.Progress, took time.Duration) string {
	done, all, n := p.CellsDone.Load(), p.Cells.Load(), p.Schedules.Load()
	left := "?"
	if done > 0 {
		left = (took * time.Duration(all-done) / time.Duration(done)).Round(time.Second).String()
	}
	return fmt.Sprintf("search: %d of %d cells, %d schedules, %.0f a second, about %s left", done, all, n, float64(n)/took.Seconds(), left)
}
