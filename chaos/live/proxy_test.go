package live

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// startProxy puts a proxy before target.
func startProxy(t *testing.T, target string) *Proxy {
	t.Helper()
	leavesNoGoroutine(t)
	p, err := NewProxy(target)
	must(t, err)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// startPeer listens in the place of a node and hands over each connection.
func startPeer(t *testing.T) (addr string, conns <-chan *net.TCPConn) {
	t.Helper()
	leavesNoGoroutine(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	accepted := make(chan *net.TCPConn, 100)
	var serving sync.WaitGroup
	serving.Go(func() {
		acceptAll(l, func(conn net.Conn) { accepted <- conn.(*net.TCPConn) })
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return l.Addr().String(), accepted
}

// dial opens a connection that ends with the test. Nothing on it may take longer than hang.
func dial(t *testing.T, addr string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(hang)))
	return conn.(*net.TCPConn)
}

// dialThrough opens a connection through p and returns both of its ends.
func dialThrough(t *testing.T, p *Proxy, conns <-chan *net.TCPConn) (client, node *net.TCPConn) {
	t.Helper()
	client = dial(t, p.Addr())
	select {
	case node = <-conns:
	case <-bounded(t).Done():
		t.Fatal("the connection never reaches the node")
	}
	t.Cleanup(func() { node.Close() })
	must(t, node.SetDeadline(time.Now().Add(hang)))
	return client, node
}

func send(t *testing.T, conn net.Conn, s string) {
	t.Helper()
	_, err := io.WriteString(conn, s)
	must(t, err)
}

// mustReceive checks that exactly s comes next.
func mustReceive(t *testing.T, conn net.Conn, s string) {
	t.Helper()
	got := make([]byte, len(s))
	if n, err := io.ReadFull(conn, got); err != nil || string(got) != s {
		t.Fatalf("received %q and error %v, want %q", got[:n], err, s)
	}
}

// mustBeReset checks that the connection ends with an error and not a byte more.
func mustBeReset(t *testing.T, conn net.Conn) {
	t.Helper()
	n, err := conn.Read(make([]byte, 1))
	var late net.Error
	if n > 0 || err == nil || errors.Is(err, io.EOF) || errors.As(err, &late) && late.Timeout() {
		t.Fatalf("read %d bytes and got error %v, want a reset", n, err)
	}
}

func await(t *testing.T, p *Proxy, ok func(Stats) bool) Stats {
	t.Helper()
	s, err := p.Await(bounded(t), ok)
	must(t, err)
	return s
}

func TestProxyRelaysBothWays(t *testing.T) {
	addr, conns := startPeer(t)
	p := startProxy(t, addr)
	client, node := dialThrough(t, p, conns)
	send(t, client, "ask")
	mustReceive(t, node, "ask")
	send(t, node, "answer")
	mustReceive(t, client, "answer")
	want := Stats{Requests: Traffic{Passed: 3}, Replies: Traffic{Passed: 6}, Accepted: 1, Open: 1}
	await(t, p, func(s Stats) bool { return s == want })
}

func TestProxyServesRealNodes(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		p := startProxy(t, n.Addr())
		command(t, p.Addr(), "SET", "lock", "1")
		if got := command(t, n.Addr(), "GET", "lock"); got != "1" {
			t.Errorf("GET says %q", got)
		}
		ctx := bounded(t)
		must(t, n.Kill(ctx))
		if _, err := askNode(ctx, p.Addr(), "PING"); err == nil {
			t.Error("a killed node answers through the proxy")
		}
		must(t, n.Restart(ctx))
		command(t, p.Addr(), "PING")
	})
}

func TestHeldBytesArriveLaterInOrder(t *testing.T) {
	for _, dir := range []Direction{Requests, Replies} {
		t.Run(dir.String(), func(t *testing.T) {
			addr, conns := startPeer(t)
			p := startProxy(t, addr)
			client, node := dialThrough(t, p, conns)
			from, to := client, node
			if dir == Replies {
				from, to = node, client
			}
			p.Hold(dir)
			var sent strings.Builder
			for i := range 100 {
				line := fmt.Sprintf("line %d\n", i)
				sent.WriteString(line)
				send(t, from, line)
			}
			s := await(t, p, func(s Stats) bool { return s.of(dir).Held == int64(sent.Len()) })
			if passed := s.of(dir).Passed; passed != 0 {
				t.Errorf("%d bytes passed in spite of Hold", passed)
			}
			send(t, to, "the other way is free")
			mustReceive(t, from, "the other way is free")
			p.Release(dir)
			mustReceive(t, to, sent.String())
		})
	}
}

func TestHeldRequestIsExecutedAfterItsSenderHasGone(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		p := startProxy(t, n.Addr())
		p.Hold(Requests)
		set := encode("SET", "ghost", "1")
		client := dial(t, p.Addr())
		send(t, client, set)
		await(t, p, func(s Stats) bool { return s.Requests.Held == int64(len(set)) })
		client.Close()
		if got := command(t, n.Addr(), "EXISTS", "ghost"); got != "0" {
			t.Error("the request has been executed while it was held")
		}
		p.Release(Requests)
		eventually(t, "the late request is executed", func() bool {
			return command(t, n.Addr(), "EXISTS", "ghost") == "1"
		})
		await(t, p, func(s Stats) bool { return s.Open == 0 })
	})
}

func TestDroppedReplyIsLostAndItsRequestExecuted(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		p := startProxy(t, n.Addr())
		client := dial(t, p.Addr())
		p.Drop(Replies)
		send(t, client, encode("SET", "lock", "1"))
		s := await(t, p, func(s Stats) bool { return s.Replies.Swallowed == int64(len("+OK\r\n")) })
		if s.Replies.Passed != 0 {
			t.Errorf("%d bytes passed in spite of Drop", s.Replies.Passed)
		}
		if got := command(t, n.Addr(), "EXISTS", "lock"); got != "1" {
			t.Error("the request was lost with its reply")
		}
		p.Release(Replies)
		mustBeReset(t, client)
		command(t, p.Addr(), "PING")
	})
}

func TestDroppedRequestIsNotExecuted(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		p := startProxy(t, n.Addr())
		client := dial(t, p.Addr())
		p.Drop(Requests)
		set := encode("SET", "lock", "1")
		send(t, client, set)
		await(t, p, func(s Stats) bool { return s.Requests.Swallowed == int64(len(set)) })
		p.Release(Requests)
		mustBeReset(t, client)
		if got := command(t, n.Addr(), "EXISTS", "lock"); got != "0" {
			t.Error("the request that was dropped has been executed")
		}
	})
}

func TestDropSwallowsWhatIsHeld(t *testing.T) {
	addr, conns := startPeer(t)
	p := startProxy(t, addr)
	client, node := dialThrough(t, p, conns)
	p.Hold(Requests)
	send(t, client, "lost")
	await(t, p, func(s Stats) bool { return s.Requests.Held == 4 })
	p.Drop(Requests)
	await(t, p, func(s Stats) bool { return s.Requests == Traffic{Swallowed: 4} })
	p.Release(Requests)
	mustBeReset(t, client)
	mustBeReset(t, node)
}

// A driver that gives up on a lost reply must not take the next one for it.
func TestDriverGetsNoReplyToAnotherRequest(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		p := startProxy(t, n.Addr())
		ctx := bounded(t)
		db := redis.NewClient(&redis.Options{
			Addr: p.Addr(), Protocol: 2, MaxRetries: -1, ReadTimeout: 50 * time.Millisecond, PoolSize: 1,
			DisableIdentity: true,
		})
		defer db.Close()
		for i := range 5 {
			p.Drop(Replies)
			if err := db.Set(ctx, "key", i, 0).Err(); err == nil {
				t.Fatal("a reply that was dropped has arrived")
			}
			p.Release(Replies)
			// Its first try may meet the connection that is reset.
			got, err := db.Echo(ctx, fmt.Sprint("echo ", i)).Result()
			for err != nil && ctx.Err() == nil {
				got, err = db.Echo(ctx, fmt.Sprint("echo ", i)).Result()
			}
			must(t, err)
			if want := fmt.Sprint("echo ", i); got != want {
				t.Fatalf("got the reply %q, want %q", got, want)
			}
		}
	})
}

func TestCutIsSilentAndHealLetsIdleConnectionsGoOn(t *testing.T) {
	addr, conns := startPeer(t)
	p := startProxy(t, addr)
	idle, idleNode := dialThrough(t, p, conns)
	busy, busyNode := dialThrough(t, p, conns)

	p.Cut()
	send(t, busy, "lost")
	send(t, busyNode, "lost too")
	hung := dial(t, p.Addr())
	send(t, hung, "never seen")
	s := await(t, p, func(s Stats) bool {
		return s.Requests.Swallowed == int64(len("lost")+len("never seen")) && s.Replies.Swallowed == int64(len("lost too"))
	})
	if s.Hung != 1 || s.Open != 3 || s.Requests.Passed != 0 || s.Replies.Passed != 0 {
		t.Errorf("counted %+v", s)
	}
	for name, conn := range map[string]*net.TCPConn{"idle": idle, "busy": busy, "hung": hung} {
		must(t, conn.SetReadDeadline(time.Now().Add(10*time.Millisecond)))
		var late net.Error
		if _, err := conn.Read(make([]byte, 1)); !errors.As(err, &late) || !late.Timeout() {
			t.Errorf("the %s connection is not silent: %v", name, err)
		}
		must(t, conn.SetReadDeadline(time.Now().Add(hang)))
	}

	p.Heal()
	send(t, idle, "ask")
	mustReceive(t, idleNode, "ask")
	send(t, idleNode, "answer")
	mustReceive(t, idle, "answer")
	mustBeReset(t, busy)
	mustBeReset(t, busyNode)
	mustBeReset(t, hung)
	again, againNode := dialThrough(t, p, conns)
	send(t, again, "ask")
	mustReceive(t, againNode, "ask")
}

func TestCutHidesTheDeathOfANode(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		p := startProxy(t, n.Addr())
		client := dial(t, p.Addr())
		send(t, client, encode("PING"))
		mustReceive(t, client, "+PONG\r\n")
		p.Cut()
		must(t, n.Kill(bounded(t)))
		must(t, client.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
		var late net.Error
		if _, err := client.Read(make([]byte, 1)); !errors.As(err, &late) || !late.Timeout() {
			t.Errorf("the client learned of it: %v", err)
		}
		must(t, client.SetReadDeadline(time.Now().Add(hang)))
		p.Heal()
		mustBeReset(t, client)
	})
}

func TestHungClientMayLeave(t *testing.T) {
	addr, _ := startPeer(t)
	p := startProxy(t, addr)
	p.Cut()
	client := dial(t, p.Addr())
	await(t, p, func(s Stats) bool { return s.Hung == 1 })
	client.Close()
	await(t, p, func(s Stats) bool { return s.Open == 0 })
}

func TestDelayHoldsBackEveryByte(t *testing.T) {
	addr, conns := startPeer(t)
	p := startProxy(t, addr)
	client, node := dialThrough(t, p, conns)
	const delay = 50 * time.Millisecond
	p.Delay(Requests, delay)
	begun := time.Now()
	send(t, client, "slow")
	await(t, p, func(s Stats) bool { return s.Requests.Held == 4 })
	p.Delay(Requests, 0)
	send(t, client, ", and not overtaken")
	mustReceive(t, node, "slow, and not overtaken")
	if took := time.Since(begun); took < delay {
		t.Errorf("took %v, want at least %v", took, delay)
	}
	send(t, node, "fast")
	mustReceive(t, client, "fast")
}

func TestNegativeDelayIsNone(t *testing.T) {
	addr, conns := startPeer(t)
	p := startProxy(t, addr)
	client, node := dialThrough(t, p, conns)
	p.Delay(Requests, -time.Hour)
	send(t, client, "ask")
	mustReceive(t, node, "ask")
}

func TestClientThatHasSaidAllStillGetsItsReplies(t *testing.T) {
	addr, conns := startPeer(t)
	p := startProxy(t, addr)
	client, node := dialThrough(t, p, conns)
	send(t, client, "all")
	must(t, client.CloseWrite())
	asked, err := io.ReadAll(node)
	must(t, err)
	send(t, node, "answer to "+string(asked))
	node.Close()
	got, err := io.ReadAll(client)
	must(t, err)
	if string(got) != "answer to all" {
		t.Errorf("got %q", got)
	}
	await(t, p, func(s Stats) bool { return s.Open == 0 })
}

func TestUnreachableNodeResetsTheClient(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	l.Close()
	p := startProxy(t, l.Addr().String())
	if conn, err := net.Dial("tcp", p.Addr()); err == nil { // else it was reset before it was made
		defer conn.Close()
		must(t, conn.SetDeadline(time.Now().Add(hang)))
		mustBeReset(t, conn)
	}
	await(t, p, func(s Stats) bool { return s.Accepted == 1 && s.Open == 0 })
}

func TestFullProxyStopsReading(t *testing.T) {
	addr, conns := startPeer(t)
	p := startProxy(t, addr)
	client, node := dialThrough(t, p, conns)
	p.Hold(Requests)
	all := make([]byte, 32<<20)
	rand.NewChaCha8([32]byte{}).Read(all)
	sent := make(chan error, 1)
	go func() {
		_, err := client.Write(all)
		sent <- err
	}()
	most := int64(0)
	await(t, p, func(s Stats) bool {
		most = max(most, s.Requests.Held)
		return s.Requests.Held > pipeRoom*9/10
	})
	p.Release(Requests)
	got := make([]byte, len(all))
	_, err := io.ReadFull(node, got)
	must(t, err)
	must(t, <-sent)
	if !bytes.Equal(got, all) {
		t.Error("the bytes have changed on the way")
	}
	if most > pipeRoom+readSize {
		t.Errorf("%d bytes were held", most)
	}
}

func TestOrderIsKeptWhileFaultsComeAndGo(t *testing.T) {
	addr, conns := startPeer(t)
	p := startProxy(t, addr)
	ctx, cancel := context.WithCancel(bounded(t))
	var weather sync.WaitGroup
	for _, dir := range []Direction{Requests, Replies} {
		weather.Go(func() {
			for ctx.Err() == nil {
				p.Delay(dir, time.Duration(rand.IntN(300))*time.Microsecond)
				p.Hold(dir)
				p.Stats()
				p.Release(dir)
				<-time.After(100 * time.Microsecond)
			}
		})
	}
	defer weather.Wait()
	defer cancel()

	var talks sync.WaitGroup
	for range 4 {
		client, node := dialThrough(t, p, conns)
		talks.Go(func() {
			io.Copy(node, node)
			node.Close()
		})
		talks.Go(func() {
			in := bufio.NewReader(client)
			var asking sync.WaitGroup
			defer asking.Wait()
			const lines = 2000
			asking.Go(func() {
				for i := range lines {
					fmt.Fprintf(client, "line %d\n", i)
				}
			})
			for i := range lines {
				got, err := in.ReadString('\n')
				if want := fmt.Sprintf("line %d\n", i); got != want || err != nil {
					t.Errorf("got %q and error %v, want %q", got, err, want)
					return
				}
			}
			client.Close()
		})
	}
	talks.Wait()
}

func TestCloseWhileBusyLeavesNothing(t *testing.T) {
	addr, conns := startPeer(t)
	p := startProxy(t, addr)
	var talks sync.WaitGroup
	begun := make(chan struct{}, 8)
	for range 8 {
		client, node := dialThrough(t, p, conns)
		talks.Go(func() {
			io.Copy(node, node)
			node.Close()
		})
		talks.Go(func() {
			buf := make([]byte, 4<<10)
			for i := 0; ; i++ {
				if _, err := client.Write(buf); err != nil {
					return
				}
				if _, err := io.ReadFull(client, buf); err != nil {
					return
				}
				if i == 3 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range 8 {
		<-begun
	}
	p.Delay(Requests, time.Hour)
	p.Hold(Replies)
	must(t, p.Close())
	must(t, p.Close())
	talks.Wait()
	s := p.Stats()
	if s.Open != 0 || s.Requests.Held != 0 || s.Replies.Held != 0 {
		t.Errorf("counted %+v after Close", s)
	}
	if _, err := net.Dial("tcp", p.Addr()); err == nil {
		t.Error("the port is still open")
	}
	p.Cut()
	p.Heal()
}

func TestAwaitEndsWithItsContextAndWithTheProxy(t *testing.T) {
	addr, _ := startPeer(t)
	p := startProxy(t, addr)
	never := func(Stats) bool { return false }
	ctx, cancel := context.WithCancel(bounded(t))
	cancel()
	_, err := p.Await(ctx, never)
	mustBe(t, err, context.Canceled)
	must(t, p.Close())
	_, err = p.Await(bounded(t), never)
	mustSay(t, err, "closed")
}
