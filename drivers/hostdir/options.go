//go:build linux

package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/cost"
	"github.com/csisim/csisim/drivers/hostdir/internal/defect"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

const defaultDriverName = "hostdir.csisim.dev"

type options struct {
	endpoint       string
	addonsEndpoint string // empty: the same endpoint
	config         service.Config
	logsAccounts   bool
	costs          []cost.Cost
	defects        defect.Set
}

func parseOptions(args []string, out io.Writer) (options, error) {
	var o options
	var mode, sites string
	var noAttach, noStage bool
	c := &o.config

	flags := flag.NewFlagSet("hostdir", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.endpoint, "endpoint", "", "socket to serve on, unix:///path or a path (required)")
	flags.StringVar(&mode, "mode", "all", "services to offer: controller, node or all")
	flags.StringVar(&c.DriverName, "driver-name", defaultDriverName, "name of the driver")
	flags.StringVar(&c.NodeID, "node-id", "", "id of this node (required for the node service)")
	flags.StringVar(&c.StateDir, "state-dir", "", "backend directory that all instances share (required)")
	flags.StringVar(&c.NodeStateDir, "node-state-dir", "", "directory for records of this node (default <state-dir>/node-state/<node-id>)")
	flags.Int64Var(&c.MaxVolumes, "max-volumes", 0, "most volumes attached to this node; 0 means no limit")
	flags.BoolVar(&noAttach, "no-attach", false, "do without ControllerPublishVolume")
	flags.BoolVar(&noStage, "no-stage", false, "do without NodeStageVolume")
	flags.BoolVar(&c.MountGroup, "mount-group", false, "offer VOLUME_MOUNT_GROUP: give volumes to the fsGroup of their pods")
	flags.BoolVar(&c.Addons, "csi-addons", false, "serve CSI-Addons: reclaim space, key rotation, fencing, replication, groups")
	flags.StringVar(&o.addonsEndpoint, "addons-endpoint", "", "with --csi-addons: socket to serve it on (default: --endpoint)")
	flags.Func("node-address", "with --csi-addons: the `address` of this node, by which it can be fenced (default: one in 10.0.0.0/8 that is made of --node-id)", func(s string) (err error) {
		c.NodeAddress, err = netip.ParseAddr(s)
		return err
	})
	flags.StringVar(&c.Site, "site", "", "with --sites: the site of this instance")
	flags.StringVar(&sites, "sites", "", "two sites that replicate volumes to each other, separated by a comma; their directories lie below --state-dir")
	flags.Func("inline", "serve volumes that pods have in their own specs: also, or `only`", func(s string) error {
		c.Inline, c.InlineOnly = true, s == "only"
		if s != "only" && s != "also" {
			return errors.New("expected also or only")
		}
		return nil
	})
	flags.BoolVar(&c.InlineReadOnly, "inline-read-only", false, "with --inline: refuse inline volumes that are not read-only")
	flags.Func("without", "disable the features `names`, separated by commas:\n"+service.WithoutHelp(), func(s string) (err error) {
		c.Without, err = service.ParseWithout(s)
		return err
	})
	flags.Func("topology", "where this node lies, `key=value`, may be repeated; the controller uses the keys", func(s string) error {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" || value == "" {
			return errors.New("expected key=value")
		}
		if c.Topology == nil {
			c.Topology = map[string]string{}
		}
		c.Topology[key] = value
		return nil
	})
	flags.BoolVar(&o.logsAccounts, "log-accounts", false, "log user, endpoint and region of the secrets of each call")
	addJobs(flags, c)
	flags.Func("format", "form of the records of volumes, `v1` or v2: each release reads the records of the other", func(s string) (err error) {
		c.Format, err = backend.ParseFormat(s)
		return err
	})
	flags.Func("broken", "misbehave as `names` say, separated by commas:\n"+defect.Help(), func(s string) (err error) {
		o.defects, err = defect.Parse(s)
		return err
	})
	flags.Func("cost", "be slow or wasteful as `names` say, separated by commas:\n"+cost.Help(), func(s string) (err error) {
		o.costs, err = cost.Parse(s)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if err := o.setPeer(sites); err != nil {
		return o, err
	}
	c.Attach, c.Stage = !noAttach, !noStage
	if c.NodeAddress == (netip.Addr{}) && c.NodeID != "" {
		c.NodeAddress = addressOf(c.NodeID)
	}
	c.Controller = mode == "controller" || mode == "all"
	c.Node = mode == "node" || mode == "all"
	return o, o.check(mode, flags.Args())
}

// addJobs adds the flags for work outside the calls, as in drivers of clouds.
func addJobs(flags *flag.FlagSet, c *service.Config) {
	flags.DurationVar(&c.Jobs.Attach, "attach-delay", 0, "attach in a job that takes so long; calls are answered with ABORTED meanwhile")
	flags.DurationVar(&c.Jobs.Detach, "detach-delay", 0, "detach in a job that takes so long; calls are answered with ABORTED meanwhile")
	flags.BoolVar(&c.Jobs.DetachLater, "detach-answers-first", false, "with --detach-delay: answer OK before the job has ended")
	flags.DurationVar(&c.Jobs.Snapshot, "snapshot-delay", 0, "snapshots are ready to use after so long")
	flags.DurationVar(&c.StartDelay, "start-delay", 0, "serve after so long")
	flags.Func("round-up", "make sizes multiples of `SIZE`, such as 1Gi", func(s string) error {
		size, err := resource.ParseQuantity(s)
		if err == nil && size.Value() <= 0 {
			err = errors.New("expected a size above 0")
		}
		c.Jobs.RoundUp = size.Value()
		return err
	})
}

// setPeer derives the name of the second site.
func (o *options) setPeer(sites string) error {
	if sites == "" && o.config.Site == "" {
		return nil
	}
	first, second, two := strings.Cut(sites, ",")
	switch o.config.Site {
	case "":
		return errors.New("--sites needs --site, the one of this instance")
	case first:
		o.config.Peer = second
	case second:
		o.config.Peer = first
	}
	if !two || o.config.Peer == "" || o.config.Peer == o.config.Site || strings.ContainsAny(sites, "/.") {
		return fmt.Errorf("--site %q and --sites %q: expected two names without / and ., one of which is the site", o.config.Site, sites)
	}
	return nil
}

// addressOf returns the default address of a node.
func addressOf(nodeID string) netip.Addr {
	sum := sha256.Sum256([]byte(nodeID))
	return netip.AddrFrom4([4]byte{10, sum[0], sum[1], sum[2]})
}

// check returns all mistakes in the options.
func (o options) check(mode string, rest []string) error {
	var errs []error
	if len(rest) > 0 {
		errs = append(errs, fmt.Errorf("unexpected arguments %q", rest))
	}
	if !o.config.Controller && !o.config.Node {
		errs = append(errs, fmt.Errorf("--mode %q is not controller, node or all", mode))
	}
	if o.endpoint == "" {
		errs = append(errs, errors.New("--endpoint is required"))
	}
	if o.config.StateDir == "" {
		errs = append(errs, errors.New("--state-dir is required"))
	}
	if o.config.Node && o.config.NodeID == "" {
		errs = append(errs, errors.New("--node-id is required for the node service"))
	}
	if o.addonsEndpoint != "" && !o.config.Addons {
		errs = append(errs, errors.New("--addons-endpoint needs --csi-addons"))
	}
	if o.config.Jobs.DetachLater && o.config.Jobs.Detach == 0 {
		errs = append(errs, errors.New("--detach-answers-first needs --detach-delay"))
	}
	if o.config.MaxVolumes < 0 {
		errs = append(errs, errors.New("--max-volumes must not be negative"))
	}
	return errors.Join(errs...)
}
