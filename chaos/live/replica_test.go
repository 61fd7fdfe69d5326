//go:build unix

package live

import "testing"

func TestReplicaHasWhatTheMasterHadWhenItWasCutOff(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		command(t, n.Addr(), "SET", "before", "1")
		r, err := n.StartReplica(ctx)
		if c.Kind == Embedded {
			mustBe(t, err, ErrUnsupported)
			return
		}
		must(t, err)
		command(t, n.Addr(), "SET", "copied", "1")
		proved(t)(r.Cut(ctx))
		command(t, n.Addr(), "SET", "late", "1")
		must(t, n.Kill(ctx))
		proved(t)(r.Promote(ctx))
		if got := command(t, r.Addr(), "EXISTS", "before", "copied"); got != "2" {
			t.Errorf("the replica has %s of the two keys that were there", got)
		}
		if got := command(t, r.Addr(), "EXISTS", "late"); got != "0" {
			t.Error("the replica has what came after the cut")
		}
		command(t, r.Addr(), "SET", "late", "2")
		must(t, n.Close())
		must(t, probePort(r.Addr()))
	})
}

func TestReplicaEndsWhenItsMasterIsMadeAsGoodAsNew(t *testing.T) {
	if !hasKind(t, Process) {
		return
	}
	p := newPool(t, Config{Kind: Process, Dir: t.TempDir()})
	nodes := take(t, p, 1, None)
	r, err := nodes[0].StartReplica(bounded(t))
	must(t, err)
	must(t, p.Give(nodes))
	must(t, probePort(r.Addr()))
	if again := take(t, p, 1, None); again[0] != nodes[0] {
		t.Error("the master was not kept")
	}
}

func TestReplicaOfANodeThatIsDownIsNotStarted(t *testing.T) {
	if !hasKind(t, Process) {
		return
	}
	n := startNodes(t, Config{Kind: Process, N: 1, Dir: t.TempDir()})[0]
	must(t, n.Kill(bounded(t)))
	_, err := n.StartReplica(bounded(t))
	mustSay(t, err, "is down")
}
