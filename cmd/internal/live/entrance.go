package live

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"

	"k8s.io/klog/v2"

	"github.com/csisim/csisim/cmd/internal/page"
	"github.com/csisim/csisim/internal/api/streams"
	"github.com/csisim/csisim/internal/driver/certificate"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/sim"
)

// entrance is the loopback port of a live cluster, and the credentials for it.
type entrance struct {
	listener    net.Listener
	certificate tls.Certificate
	page        *page.Page
	access      *access
}

func (o Options) open(claimed *Claim) (*entrance, error) {
	token, err := page.NewToken()
	if err != nil {
		return nil, err
	}
	serving, authority, err := certificate.New()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return nil, &EnvironmentError{fmt.Errorf("listening for clients: %w", err)}
	}
	shown, err := page.New(listener.Addr().String())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	granted := &access{name: o.Name, file: o.Kubeconfig, claim: claimed, State: State{
		PID: namespaces.PID(), Address: "https://" + shown.Host, Token: token, Page: shown.Address(), Authority: authority,
	}}
	return &entrance{listener, serving, shown, granted}, nil
}

// live serves the cluster until ctx is done.
func (e *entrance) live(ctx context.Context, out io.Writer, c *sim.Simulation, speed float64) error {
	a := e.access
	a.Endpoints, a.Directories = c.Endpoints(), c.Directories()
	at, stopSSH, err := serveSSH(c)
	if err != nil {
		return err
	}
	defer stopSSH()
	a.SSH = at
	if err := a.grant(); err != nil {
		return err
	}
	if err := c.DefineCSIAddons(); err != nil {
		return err
	}
	look := newLookout(c, a.name)
	e.page.Text, e.page.More = look.page, map[string]http.HandlerFunc{"/news": look.answer}
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // it logs each closed connection
	api := c.API()
	api.ServeStreams(streams.Server{})
	stop := page.Serve(page.NewPort(e.listener, e.certificate), e.page.Beside(api))
	fmt.Fprintf(out, "Cluster %q is up at %s\n%s\nSee it in a browser: %s\nStop it with Ctrl-C or: csisim down --name %s\n",
		a.name, a.Address, a.hint(), a.Page, a.name)
	err = c.Live(ctx, speed)
	return errors.Join(err, stop())
}
