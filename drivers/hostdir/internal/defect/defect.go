//go:build linux

// Package defect holds the possible defects of hostdir, one file each, so that tests can prove that
// csisim detects them. Each defect wraps a part of a sound driver; the services themselves contain
// none.
package defect

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"google.golang.org/grpc"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// Defect is one deliberate defect. Its functions are optional.
type Defect struct {
	// Name is the word for --broken. Does is the line in its help.
	Name, Does string
	// Configure changes the configuration.
	Configure func(*service.Config)
	// Upgrade is called once for each state directory, when the driver first finds it. The driver
	// is then a newer release that uses the state of an older one.
	Upgrade func(*service.Driver) error
	// Wrap replaces parts of the driver.
	Wrap func(*service.Driver)
	// Start is called before the driver serves, Stop before it stops.
	Start func(*service.Driver) error
	Stop  func(*service.Driver)
	// Call answers a call, or changes the call.
	Call Call
	// Listen opens the socket at a path. Default: a socket of a killed process is replaced.
	Listen func(path string) (net.Listener, error)
}

// Set is the set of chosen defects, in the order of the list. The empty set is a correct driver.
type Set []*Defect

// Parse reads names separated by commas.
func Parse(names string) (Set, error) {
	chosen := map[string]bool{}
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !slices.ContainsFunc(all, func(d *Defect) bool { return d.Name == name }) {
			return nil, fmt.Errorf("no broken behaviour %q; there are:\n%s", name, Help())
		}
		chosen[name] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(d *Defect) bool { return !chosen[d.Name] }), nil
}

// Names lists the names of the defects.
func (s Set) Names() (names []string) {
	for _, d := range s {
		names = append(names, d.Name)
	}
	return names
}

// Help lists every defect with its description, a line each.
func Help() string {
	var text strings.Builder
	for _, d := range all {
		fmt.Fprintf(&text, "  %-36s%s\n", d.Name, d.Does)
	}
	return text.String()
}

// Configure changes the configuration according to the defects.
func (s Set) Configure(c *service.Config) {
	for _, d := range s {
		if d.Configure != nil {
			d.Configure(c)
		}
	}
}

// Start wraps the parts of a driver, and applies the defects at its start before the driver serves.
func (s Set) Start(driver *service.Driver) error {
	for _, d := range s {
		if d.Wrap != nil {
			d.Wrap(driver)
		}
	}
	for _, d := range s {
		if d.Upgrade != nil {
			if err := once(driver, d.Upgrade); err != nil {
				return err
			}
		}
		if d.Start != nil {
			if err := d.Start(driver); err != nil {
				return err
			}
		}
	}
	return nil
}

// Stop applies the defects at the end of a driver before the driver stops.
func (s Set) Stop(driver *service.Driver) {
	for _, d := range s {
		if d.Stop != nil {
			d.Stop(driver)
		}
	}
}

// Listener returns the function that opens the socket.
func (s Set) Listener(sound func(path string) (net.Listener, error)) func(path string) (net.Listener, error) {
	for _, d := range s {
		if d.Listen != nil {
			return d.Listen
		}
	}
	return sound
}

// Calls changes calls according to the defects.
func (s Set) Calls(driver *service.Driver) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		for _, d := range s {
			if d.Call == nil {
				continue
			}
			next := handle
			handle = func(ctx context.Context, req any) (any, error) { return d.Call(driver, ctx, req, info, next) }
		}
		return handle(ctx, req)
	}
}
