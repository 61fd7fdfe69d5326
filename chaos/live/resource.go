package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// resource serves a register to the client processes, over HTTP on the loopback interface:
// POST /read and /write with an operation, answered by what is there then; 409 for one that is refused.
type resource struct {
	register *chaos.Register
	listener net.Listener
	server   *http.Server
}

func serveResource(register *chaos.Register) (*resource, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the resource: %w", err)
	}
	r := &resource{register: register, listener: listener}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /read", handle(func(op operation) (chaos.Snapshot, error) {
		return register.Read(op.Client, op.Token)
	}))
	mux.HandleFunc("POST /write", handle(func(op operation) (chaos.Snapshot, error) {
		return register.Write(op.Client, op.Token, op.Base, op.Value)
	}))
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go r.server.Serve(listener) // until close
	return r, nil
}

func (r *resource) url() string { return "http://" + r.listener.Addr().String() }

func (r *resource) close() error { return r.server.Close() }

// operation is what a client asks of the resource.
type operation struct {
	Client string
	Token  redlock.Token
	Base   chaos.Snapshot `json:",omitzero"` // write: what it was made from
	Value  int            `json:",omitzero"` // write
}

func handle(carryOut func(operation) (chaos.Snapshot, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		var op operation
		if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, 1<<12)).Decode(&op); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		found, err := carryOut(op)
		switch {
		case errors.Is(err, chaos.ErrStale):
			http.Error(w, err.Error(), http.StatusConflict)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			json.NewEncoder(w).Encode(found) // a client that is gone does not want it
		}
	}
}

// resourceClient is the way to it.
type resourceClient struct{ url, client string }

func (c resourceClient) read(token redlock.Token) (chaos.Snapshot, error) {
	return c.do("/read", operation{Client: c.client, Token: token})
}

func (c resourceClient) write(token redlock.Token, base chaos.Snapshot, value int) (chaos.Snapshot, error) {
	return c.do("/write", operation{Client: c.client, Token: token, Base: base, Value: value})
}

func (c resourceClient) do(path string, op operation) (found chaos.Snapshot, err error) {
	body, err := json.Marshal(op)
	if err != nil {
		return found, err
	}
	resp, err := http.Post(c.url+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return found, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return found, json.NewDecoder(resp.Body).Decode(&found)
	}
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return found, err
	case resp.StatusCode == http.StatusConflict:
		return found, fmt.Errorf("%w (%s)", chaos.ErrStale, bytes.TrimSpace(text))
	}
	return found, fmt.Errorf("the resource answers %s: %s", resp.Status, bytes.TrimSpace(text))
}
