package live

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// resource serves a register to the client processes, over HTTP on the loopback interface:
// POST /read and /write with client, token and value; 409 for a stale token.
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
	mux.HandleFunc("POST /read", r.handle(func(client string, token redlock.Token, _ int) (int, error) {
		return register.Read(client, token)
	}))
	mux.HandleFunc("POST /write", r.handle(func(client string, token redlock.Token, value int) (int, error) {
		return value, register.Write(client, token, value)
	}))
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go r.server.Serve(listener) // until close
	return r, nil
}

func (r *resource) url() string { return "http://" + r.listener.Addr().String() }

func (r *resource) close() error { return r.server.Close() }

func (r *resource) handle(op func(client string, token redlock.Token, value int) (int, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		token, err1 := strconv.ParseUint(req.FormValue("token"), 10, 64)
		value, err2 := strconv.Atoi(req.FormValue("value"))
		if err := errors.Join(err1, err2); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		result, err := op(req.FormValue("client"), redlock.Token(token), value)
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		fmt.Fprint(w, result)
	}
}

// resourceClient is the way to it.
type resourceClient struct{ url, client string }

func (c resourceClient) read(token redlock.Token) (int, error) { return c.do("/read", token, 0) }

func (c resourceClient) write(token redlock.Token, value int) error {
	_, err := c.do("/write", token, value)
	return err
}

func (c resourceClient) do(path string, token redlock.Token, value int) (int, error) {
	resp, err := http.PostForm(c.url+path, url.Values{
		"client": {c.client},
		"token":  {strconv.FormatUint(uint64(token), 10)},
		"value":  {strconv.Itoa(value)},
	})
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	text := strings.TrimSpace(string(body))
	switch resp.StatusCode {
	case http.StatusOK:
		return strconv.Atoi(text)
	case http.StatusConflict:
		return 0, fmt.Errorf("%w (%s)", chaos.ErrStale, text)
	}
	return 0, fmt.Errorf("the resource answers %s: %s", resp.Status, text)
}
