package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/klog/v2"

	"github.com/csisim/csisim/internal/api/streams"
	"github.com/csisim/csisim/internal/driver/certificate"
	"github.com/csisim/csisim/sim"
)

// entrance is the loopback port of a live cluster, and the credentials for it.
type entrance struct {
	listener    net.Listener
	certificate tls.Certificate
	page        *page
	access      *access
}

func (f upFlags) open(claimed *claim) (*entrance, error) {
	token, err := newToken()
	if err != nil {
		return nil, err
	}
	serving, authority, err := certificate.New()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port)))
	if err != nil {
		return nil, &failure{code: exitEnvironment, err: fmt.Errorf("listening for clients: %w", err)}
	}
	shown, err := newPage(listener.Addr().String())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	granted := &access{name: f.name, page: shown.address(), address: "https://" + shown.host, token: token, authority: authority, file: f.kubeconfig, claim: claimed}
	return &entrance{listener, serving, shown, granted}, nil
}

func newToken() (string, error) {
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return "", fmt.Errorf("making a token: %w", err)
	}
	return hex.EncodeToString(secret), nil
}

// live serves the cluster until ctx is done.
func (e *entrance) live(ctx context.Context, env environment, c *sim.Simulation, speed float64) error {
	a := e.access
	a.endpoints, a.directories = c.Endpoints(), c.Directories()
	at, stopSSH, err := serveSSH(c)
	if err != nil {
		return err
	}
	defer stopSSH()
	a.ssh = at
	if err := a.grant(); err != nil {
		return err
	}
	if err := c.DefineCSIAddons(); err != nil {
		return err
	}
	look := newLookout(c, a.name)
	e.page.text, e.page.more = look.page, map[string]http.HandlerFunc{"/news": look.answer}
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // it logs each closed connection
	api := c.API()
	api.ServeStreams(streams.Server{})
	stop := serve(newPort(e.listener, e.certificate), e.page.beside(api))
	fmt.Fprintf(env.stdout, "Cluster %q is up at %s\n%s\nSee it in a browser: %s\nStop it with Ctrl-C or: csisim down --name %s\n",
		a.name, a.address, a.hint(), a.page, a.name)
	err = c.Live(ctx, speed)
	return errors.Join(err, stop())
}

// serve answers clients until stop is called, which closes all connections.
func serve(listener net.Listener, handler http.Handler) (stop func() error) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return func() error {
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}
