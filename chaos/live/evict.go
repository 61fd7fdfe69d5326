package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// filler is what memory is filled with.
const (
	fillerPrefix = "quorumlock-filler-"
	fillerBytes  = 16 << 10
	fillerMost   = 5000
	headroom     = 1 << 20 // that maxmemory leaves above what is used, in bytes
)

// evict bounds a node's memory, fills it until the keys are gone, and undoes both.
func (s *site) evict(ctx context.Context, policy string, keys []string) (proof string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("evict %s from node %s: %w", strings.Join(keys, " and "), s.name, err)
		}
	}()
	if len(keys) == 0 || policy == "noeviction" {
		return "", unsupported("%d keys by policy %s is none", len(keys), policy)
	}
	begun := time.Now()
	lease, err := s.shortestLease(ctx, keys)
	if err != nil {
		return "", err
	}
	before, err1 := s.infoNumber(ctx, "stats", "evicted_keys")
	used, err2 := s.infoNumber(ctx, "memory", "used_memory")
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	err = s.bound(ctx, policy, used+headroom)
	if err == nil {
		err = s.fill(ctx, keys)
	}
	if err := errors.Join(err, s.unfill(context.WithoutCancel(ctx))); err != nil {
		return "", err
	}
	after, err := s.infoNumber(ctx, "stats", "evicted_keys")
	if err != nil {
		return "", err
	}
	switch took := time.Since(begun); {
	case after-before < len(keys):
		return "", fmt.Errorf("%w: evicted_keys %d -> %d", ErrNoEffect, before, after)
	case took >= lease:
		return "", fmt.Errorf("%w: it took %v, by when a key may as well have expired", ErrNoEffect, took)
	}
	return fmt.Sprintf("maxmemory-policy %s: evicted_keys %d -> %d, gone: %s", policy, before, after, strings.Join(keys, " and ")), nil
}

// noLease is the lease of keys that stay.
const noLease = time.Duration(math.MaxInt64)

// shortestLease is the least PTTL of keys that must be there.
func (s *site) shortestLease(ctx context.Context, keys []string) (time.Duration, error) {
	const noTTL, noKey = -1, -2
	shortest := noLease
	for _, key := range keys {
		ms, err := s.number(ctx, "PTTL", key)
		switch {
		case err != nil:
			return 0, err
		case ms == noKey:
			return 0, fmt.Errorf("%w: %s is not there", ErrNoEffect, key)
		case ms != noTTL:
			shortest = min(shortest, time.Duration(ms)*time.Millisecond)
		}
	}
	return shortest, nil
}

// bound sets how much memory a node may use, 0 for any, and whose keys go then.
func (s *site) bound(ctx context.Context, policy string, bytes int) error {
	_, err1 := s.Ask(ctx, "CONFIG", "SET", "maxmemory-policy", policy)
	_, err2 := s.Ask(ctx, "CONFIG", "SET", "maxmemory", strconv.Itoa(bytes))
	return errors.Join(err1, err2)
}

// fill writes until the keys are gone. By some policies the filler itself goes first, by chance; by others nothing can go
// in the end but the keys.
func (s *site) fill(ctx context.Context, keys []string) error {
	filler := strings.Repeat("x", fillerBytes)
	exists := append([]string{"EXISTS"}, keys...)
	for i := range fillerMost {
		_, full := s.Ask(ctx, "SET", fillerPrefix+strconv.Itoa(i), filler)
		there, err := s.number(ctx, exists...)
		switch {
		case err != nil:
			return err
		case there == 0:
			return nil
		case full != nil:
			return fmt.Errorf("%w: memory is full of what stays: %w", ErrNoEffect, full)
		}
	}
	return fmt.Errorf("%w: they are there after %d MB", ErrNoEffect, fillerMost*fillerBytes>>20)
}

// unfill takes the bound and the filler away.
func (s *site) unfill(ctx context.Context) error {
	const batch = 500
	err := s.bound(ctx, "noeviction", 0)
	for first := 0; first < fillerMost && err == nil; first += batch {
		command := []string{"DEL"}
		for i := range batch {
			command = append(command, fillerPrefix+strconv.Itoa(first+i))
		}
		_, err = s.Ask(ctx, command...)
	}
	return err
}
