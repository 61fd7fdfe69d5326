package mutants

// All returns every mutant. Those of a file of chaos/sim are bugs of the scripts in redlock/scripts, made in the model of
// a master that stands for them.
func All() []Mutant {
	return []Mutant{
		// Time.
		{
			Name: "no-validity-check", About: "a grant counts however long it took",
			File: "redlock/acquire.go",
			Old: `	token, err := c.settle(ctx, cmd, start, grants, s)
	if err == nil {
		cmd.Token = token
		l := newLock(c, parent, cmd, start, s)
		switch {
		case c.life.Err() != nil:
			err = errClosed
		case l.hold.arm():
`,
			New: `	token, err := c.settle(ctx, cmd, start.Add(clock.Forever/2), grants, s)
	if err == nil {
		cmd.Token = token
		l := newLock(c, parent, cmd, start, s)
		switch {
		case c.life.Err() != nil:
			err = errClosed
		case l.hold.arm() || true:
`,
			Caught: "validity",
		},
		{
			Name: "no-validity-check-on-return", About: "validity is checked before the token is confirmed, and not after",
			File:   "redlock/acquire.go",
			Old:    `		case l.hold.arm():`,
			New:    `		case l.hold.arm() || true:`,
			Caught: "validity",
		},
		{
			Name: "lease-from-the-answer", About: "the lease is counted from the answers, not from before the question",
			File:   "redlock/acquire.go",
			Old:    `	token, err := c.settle(`,
			New:    `	start = s.clock.Now()` + "\n" + `	token, err := c.settle(`,
			Caught: "validity",
		},
		{
			Name: "wall-clock", About: "elapsed time is read from the wall clock alone",
			File:   "clock/clock.go",
			Old:    `	return max(r.Boot-earlier.Boot, r.Wall.Sub(earlier.Wall))`,
			New:    `	return r.Wall.Sub(earlier.Wall)`,
			Caught: "validity",
		},
		{
			Name: "no-drift", About: "validity is the whole TTL: nothing is given away for clocks that run at different rates",
			File:   "redlock/options.go",
			Old:    `	return s.ttl - time.Duration(float64(s.ttl)*s.driftFactor) - driftFloor`,
			New:    `	return s.ttl`,
			Caught: "validity",
		},
		{
			Name: "no-loss-timer", About: "the lock's context does not end with its lease",
			File:   "redlock/lock.go",
			Old:    `	h.expiry = h.settings.clock.AfterFunc(remaining, h.expire)` + "\n" + `	if h.settings.autoExtend {`,
			New:    `	if h.settings.autoExtend {`,
			Caught: "validity",
		},

		{
			Name: "expiry-is-no-end", About: "a lock whose lease has run out comes back with the next extension",
			File: "redlock/lock.go",
			Old: `	if h.ended != nil {
		h.mu.Unlock()
		return
	}`,
			New: `	if h.ended != nil || kind == ErrExpired {
		h.mu.Unlock()
		return
	}`,
			Caught: "validity",
		},

		// Quorums.
		{
			Name: "half-a-quorum", About: "n/2 masters are enough",
			File:   "quorum/quorum.go",
			Old:    `return max(n, 0)/2 + 1 }`,
			New:    `return max(n, 0) / 2 }`,
			Caught: "exclusion",
		},
		{
			Name: "quorum-of-the-reachable", About: "masters that failed do not count among those of which a majority is needed",
			File: "redlock/vote.go",
			Old:  `// unreachable reports whether`,
			New: `func (v *vote) Won() bool {
	answered := v.Yes() + v.No() - v.failed
	return v.Decided() && answered > 0 && v.Yes() > answered/2
}

func (v *vote) Decided() bool { return v.Tally.Won() || v.Pending() == 0 }

// unreachable reports whether`,
			Caught: "exclusion",
		},
		{
			Name: "waits-for-the-silent", About: "who has met a rival waits for silent masters all the same",
			File:   "redlock/acquire.go",
			Old:    `		if patient && v.held > 0 && v.answered() >= v.need {`,
			New:    `		if false && patient {`,
			Caught: "progress",
		},

		{
			Name: "waits-for-the-slowest", About: "an attempt waits for all masters, when the outcome is long known",
			File:   "redlock/acquire.go",
			Old:    `		if v.settled() {`,
			New:    `		if false {`,
			Caught: "progress",
		},

		// Release and undo.
		{
			Name: "blind-del", About: "a release deletes the key whoever holds it",
			File:   "chaos/sim/node.go",
			Old:    `	if !ours && (taken || !creates) {`,
			New:    `	if !ours && (taken || !creates) && cmd.Op != redlock.OpRelease {`,
			Caught: "exclusion",
		},
		{
			Name: "no-undo", About: "a failed attempt leaves its keys behind",
			File:   "redlock/acquire.go",
			Old:    `	c.undo(ctx, cmd, start, grants, s)`,
			New:    ``,
			Caught: "tidiness",
		},
		{
			Name: "undo-of-the-known", About: "a failed attempt is undone only where it is known to have been granted",
			File:   "redlock/release.go",
			Old:    `return !heard || r.Err != nil || r.Status != Held })`,
			New:    `return heard && r.Err == nil && r.Status == Done })`,
			Caught: "tidiness",
		},
		{
			Name: "no-follow-up", About: "a release that a master did not confirm is not repeated",
			File:   "redlock/release.go",
			Old:    `	c.followUp(cmd, pending, sent, s)`,
			New:    `	_, _ = pending, sent`,
			Caught: "tidiness",
		},
		{
			Name: "one-value", About: "all attempts of a client share one value",
			File:   "redlock/acquire.go",
			Old:    `	value, err := newValue(s.random)`,
			New:    `	value, err := fmt.Sprintf("%p", c), error(nil)`,
			Caught: "tokens",
		},

		// Tokens.
		{
			Name: "confirm-anybodys", About: "a token is confirmed on masters that do not hold our value any more",
			File:   "chaos/sim/node.go",
			Old:    `	if !ours && (taken || !creates) {`,
			New:    `	if !ours && (taken || !creates) && cmd.Op != redlock.OpConfirm {`,
			Caught: "tokens",
		},
		{
			Name: "confirm-below-the-counter", About: "a token is confirmed on masters that have counted beyond it",
			File:   "chaos/sim/node.go",
			Old:    `		if c > cmd.Token {`,
			New:    `		if false {`,
			Caught: "tokens",
		},
		{
			Name: "fast-path-on-unequal", About: "the largest counter is the token, without a confirmation, also where they differ",
			File:   "redlock/acquire.go",
			Old:    `	if grants.equal && token > 0 {`,
			New:    `	if token > 0 {`,
			Caught: "tokens",
		},
		{
			Name: "no-counting", About: "an acquire does not raise the counter",
			File:   "chaos/sim/node.go",
			Old:    `		c = max(c+1, `,
			New:    `		c = max(c, `,
			Caught: "tokens",
		},
		{
			Name: "token-from-the-clock", About: "the token is the client's own proposal",
			File:   "redlock/acquire.go",
			Old:    `		cmd.Token = token` + "\n",
			New:    `		_ = token` + "\n",
			Caught: "tokens",
		},
		{
			Name: "constant-token", About: "every grant has token 1",
			File:   "redlock/acquire.go",
			Old:    `		cmd.Token = token` + "\n",
			New:    `		cmd.Token = min(token, 1)` + "\n",
			Caught: "damage",
		},
		{
			Name: "no-proposal", About: "tokens come from the counters alone: a master's lost memory is enough to repeat one",
			File:   "redlock/redlock.go",
			Old:    `	return max(Token(max(now.Wall.UnixMicro(), 0)), Token(c.seen.Load())+1)`,
			New:    `	return Token(c.seen.Load()) + 1`,
			Caught: "tokens",
		},

		{
			Name: "counter-expires-with-the-lock", About: "counters are kept for a lease only",
			File:   "chaos/sim/node.go",
			Old:    `cmd.Retention, now)`,
			New:    `cmd.TTL, now)`,
			Caught: "tokens",
		},

		// Leases on the masters.
		{
			Name: "set-without-nx", About: "an acquire overwrites another's key",
			File:   "chaos/sim/node.go",
			Old:    `	if !ours && (taken || !creates) {`,
			New:    `	if !ours && (taken || !creates) && cmd.Op != redlock.OpAcquire {`,
			Caught: "exclusion",
		},
		{
			Name: "longer-on-the-masters", About: "masters keep the lock for three times its lease",
			File:   "chaos/sim/node.go",
			Old:    `		n.set(cmd.Name, cmd.Value, cmd.TTL, now)` + "\n" + `	case redlock.OpConfirm:`,
			New:    `		n.set(cmd.Name, cmd.Value, 3*cmd.TTL, now)` + "\n" + `	case redlock.OpConfirm:`,
			Caught: "progress",
		},

		// Extension.
		{
			Name: "extension-creates", About: "an extension creates the key where it does not find it",
			File:   "chaos/sim/node.go",
			Old:    `cmd.Op == redlock.OpAcquire || cmd.Op == redlock.OpRepair`,
			New:    `cmd.Op == redlock.OpAcquire || cmd.Op == redlock.OpRepair || cmd.Op == redlock.OpExtend`,
			Caught: "tidiness",
		},
		{
			Name: "extension-of-nothing", About: "an extension prolongs the holder's lease and not the masters'",
			File:   "chaos/sim/node.go",
			Old:    `	case redlock.OpExtend:` + "\n" + `		n.set(cmd.Name, cmd.Value, cmd.TTL, now)` + "\n",
			New:    `	case redlock.OpExtend:` + "\n",
			Caught: "exclusion",
		},
		{
			Name: "failed-extension-counts", About: "an extension that too few masters answered restarts the loss timer",
			File:   "redlock/extend.go",
			Old:    `		err = v.fail(ErrNoQuorum)`,
			New:    `		h.prolong(start, lease)` + "\n" + `		err = v.fail(ErrNoQuorum)`,
			Caught: "validity",
		},
		{
			Name: "repaired-count", About: "masters that had lost the key and were given it back count for the quorum of an extension",
			File: "redlock/extend.go",
			Old: `		v.add(reply)
		if v.settled() && !reported {
`,
			New: `		if reply.Err == nil && reply.Status == Gone {
			h.repair(ctx, []int{reply.Node}, start, s)
			reply.Status = Done
		}
		v.add(reply)
		if v.settled() && !reported {
`,
			Caught: "validity",
		},
		{
			Name: "extension-adds-up", About: "an extension adds a lease to the old one's end instead of counting from its own start",
			File:   "redlock/extend.go",
			Old:    `	h.from, h.lease = start, lease`,
			New:    `	h.lease += lease`,
			Caught: "validity",
		},
		{
			Name: "no-limit", About: "automatic extension goes beyond its limit",
			File:   "redlock/extend.go",
			Old:    `	if err := h.extend(h.client.life, left); err != nil {`,
			New:    `	if err := h.extend(h.client.life, clock.Forever); err != nil {`,
			Caught: "validity",
		},
		{
			Name: "no-repair", About: "masters that lost the key are not given it back",
			File:   "redlock/extend.go",
			Old:    `	if len(nodes) == 0 || cmd.TTL <= 0 || h.err() != nil {`,
			New:    `	if true {`,
			Caught: "endurance",
		},
		{
			Name: "extends-too-late", About: "the first extension comes in time, the others once a TTL",
			File:   "redlock/extend.go",
			Old:    `	pause := h.settings.ttl / 3`,
			New:    `	pause := h.settings.ttl`,
			Caught: "endurance",
		},
		{
			Name: "extension-steals", About: "an extension prolongs the key whoever holds it, and makes it its own",
			File:   "chaos/sim/node.go",
			Old:    `	if !ours && (taken || !creates) {`,
			New:    `	if !ours && (taken || !creates) && !(taken && cmd.Op == redlock.OpExtend) {`,
			Caught: "tidiness",
		},

		{
			Name: "taken-is-no-end", About: "the holder is not told that a majority holds another's value, until its lease runs out",
			File:   "redlock/extend.go",
			Old:    `		h.end(ErrLost)`,
			New:    ``,
			Caught: "validity",
		},
		{
			Name: "loss-is-no-end", About: "the holder is not told that a majority has lost its key, until its lease runs out",
			File:   "redlock/extend.go",
			Old:    `		h.end(ErrExpired)`,
			New:    ``,
			Caught: "validity",
		},

		// The resource.
		{
			Name: "guard-backwards", About: "the guard refuses the newer token",
			File:   "chaos/guard.go",
			Old:    `	if token < m.mark {`,
			New:    `	if token > m.mark {`,
			Caught: "refusals",
		},
		{
			Name: "guard-refuses-equal", About: "the guard refuses a holder's second operation",
			File:   "chaos/guard.go",
			Old:    `	if token < m.mark {`,
			New:    `	if token <= m.mark {`,
			Caught: "refusals",
		},
		{
			Name: "guard-forgets", About: "the guard does not remember what it has seen",
			File:   "chaos/guard.go",
			Old:    `	m.mark = token` + "\n",
			New:    ``,
			Caught: "damage",
		},
	}
}
