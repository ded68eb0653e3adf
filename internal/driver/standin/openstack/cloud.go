// Package openstack replaces a small OpenStack cloud: the parts of identity, block storage and
// compute that a CSI driver uses. Its volumes are files of the run. Loop devices show them on the
// nodes to which they are attached.
package openstack

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/csisim/csisim/internal/driver/standin"
)

// Options describe the cloud.
type Options struct {
	Types       []string `json:"types,omitempty" example:"[fast, shared]" doc:"The volume types beside __DEFAULT__."`
	Multiattach []string `json:"multiattach,omitempty" example:"[shared]" doc:"The types with volumes that can be attached to several servers."`
	Zones       []string `json:"zones,omitempty" example:"[nova]" doc:"The availability zones of volumes beside those of the nodes; default nova."`
	Quota       Quota    `json:"quota,omitempty" doc:"The limits of the project; default no limits."`
	// Settle counts requests instead of time, so that a run does not depend on the machine's speed.
	Settle uint `json:"settle,omitempty" doc:"The number of times that clients see a state such as creating before the next state, such as available; default 0: the driver sees it only in the answer to its request."`
}

// Quota is the limit of the project; 0 means no limit.
type Quota struct {
	Volumes   int `json:"volumes,omitempty" doc:"The number of volumes."`
	Gigabytes int `json:"gigabytes,omitempty" doc:"The sum of their sizes, and of those of snapshots, in GiB."`
	Snapshots int `json:"snapshots,omitempty" doc:"The number of snapshots."`
}

// Check returns the first mistake in the options.
func (o Options) Check() error {
	for _, name := range o.Multiattach {
		if !slices.Contains(o.Types, name) {
			return fmt.Errorf("multiattach type %q is none of types", name)
		}
	}
	return nil
}

// Cloud is the cloud of one run.
type Cloud struct {
	options  Options
	dir      string
	password string
	address  string // host:port
	http     *http.Server
	served   chan error

	mu        sync.Mutex
	tokens    map[string]bool
	servers   map[string]*server
	volumes   []*volume
	snapshots []*snapshot
	made      map[string]int // the number of things with a name so far
	failures  []standin.Failure
}

// New makes a cloud.
func New(o Options) *Cloud {
	return &Cloud{options: o, password: rand.Text(), tokens: map[string]bool{}, servers: map[string]*server{}, made: map[string]int{}}
}

// Start serves the APIs on a port of the loopback interface.
func (c *Cloud) Start(dir string) error {
	c.dir = dir
	for _, sub := range []string{"images", "helpers"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	if err := standin.WriteProgram(filepath.Join(dir, "helpers", "mount.iso9660"), configDriveHelper); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c.address = listener.Addr().String()
	c.http = &http.Server{Handler: c.handler()}
	c.served = make(chan error, 1)
	go func() { c.served <- c.http.Serve(listener) }()
	return nil
}

// Stop ends the APIs and frees the loop devices.
func (c *Cloud) Stop() error {
	if c.http == nil {
		return nil
	}
	errs := []error{c.http.Close()}
	if err := <-c.served; !errors.Is(err, http.ErrServerClosed) {
		errs = append(errs, err)
	}
	c.http = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range c.volumes {
		errs = append(errs, v.disk.Free())
	}
	return errors.Join(errs...)
}

// Operations returns requests, and transitions between states. A failing transition ends in an
// error state or is undone.
func (*Cloud) Operations() []string {
	var names []string
	for _, r := range routes {
		if !slices.Contains(names, r.operation) {
			names = append(names, r.operation)
		}
	}
	return append(names, "creating", "attaching", "detaching", "extending", "deleting", "snapshotting")
}

// Fail makes requests fail with an HTTP status, by default 500, or makes transitions fail.
func (c *Cloud) Fail(f standin.Failure) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, f)
	return nil
}

// Recover ends all failures.
func (c *Cloud) Recover() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = nil
	return nil
}

// fails reports whether an operation has to fail, and how.
func (c *Cloud) fails(operation string) (standin.Failure, bool) {
	i := slices.IndexFunc(c.failures, func(f standin.Failure) bool { return f.Operation == operation })
	if i < 0 {
		return standin.Failure{}, false
	}
	found := c.failures[i]
	switch found.Times {
	case 0: // always
	case 1:
		c.failures = slices.Delete(c.failures, i, i+1)
	default:
		c.failures[i].Times--
	}
	return found, true
}

// uuid returns an id that is the same in each run for the nth thing of a kind and name.
func (c *Cloud) uuid(kind, name string) string {
	name = kind + "/" + name
	c.made[name]++
	return uuidOf(fmt.Sprintf("%s/%d", name, c.made[name]))
}

func uuidOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80 // version 4, the usual variant
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// zones returns the availability zones of volumes.
func (c *Cloud) zones() []string {
	zones := slices.Clone(c.options.Zones)
	if len(zones) == 0 {
		zones = []string{defaultZone}
	}
	for _, s := range c.servers {
		if !slices.Contains(zones, s.zone) {
			zones = append(zones, s.zone)
		}
	}
	slices.Sort(zones)
	return zones
}

const (
	defaultZone = "nova"
	defaultType = "__DEFAULT__"
	project     = "csisim"
	user        = "csisim"
	region      = "RegionOne"
)

func (c *Cloud) url(path string) string {
	return "http://" + c.address + "/" + strings.TrimPrefix(path, "/")
}
