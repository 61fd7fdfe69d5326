package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// agree asks a person, and fails unless the answer is yes.
func agree(ctx context.Context, w io.Writer, in io.Reader, warning string) error {
	fmt.Fprintf(w, "%s\nGo on? [y/N] ", warning)
	answers := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(in).ReadString('\n') // no answer is no
		answers <- answer
	}()
	select {
	case answer := <-answers:
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return nil
		}
		return errors.New("nothing was written: that was not a yes (--yes goes on without asking)")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
