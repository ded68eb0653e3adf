package proxy

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// KeepOptions describe a program that is stopped and started in its container by request, without
// the kubelet's restarts.
type KeepOptions struct {
	// Command starts the program.
	Command []string
	// Address is the address of the control server, host:port; clients must have the Token.
	Address, Token string
}

// Keep runs a program until ctx ends, and then sends it SIGTERM.
func Keep(ctx context.Context, o KeepOptions) error {
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		return fmt.Errorf("listen for orders: %w", err)
	}
	child := newProgram(o.Command, func(how string) { fmt.Fprintf(os.Stderr, "%s has ended: %s\n", o.Command[0], how) })
	mux := http.NewServeMux()
	serveLife(mux, func() life { return child }, func(string) {})
	server := &http.Server{Handler: Bearing(o.Token, mux), ReadHeaderTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	_ = child.start() // it is retried
	select {
	case <-ctx.Done():
		err = nil
	case err = <-failed:
	}
	return errors.Join(err, child.stop(), server.Close())
}

// serveLife serves requests to end and start a program, and calls done after each.
func serveLife(mux *http.ServeMux, of func() life, done func(order string)) {
	for name, do := range map[string]func(life) error{"kill": life.kill, "stop": life.stop, "start": life.start} {
		mux.HandleFunc("POST /driver/"+name, func(w http.ResponseWriter, _ *http.Request) {
			program := of()
			if program == nil {
				http.Error(w, notEnded, http.StatusConflict)
				return
			}
			if err := do(program); err != nil {
				http.Error(w, err.Error(), http.StatusConflict)
				return
			}
			done(name)
		})
	}
}

// Bearing rejects requests without the token.
func Bearing(token string, to http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get(TokenHeader)), []byte(token)) != 1 {
			http.Error(w, "the token is missing or wrong", http.StatusForbidden)
			return
		}
		to.ServeHTTP(w, r)
	})
}
