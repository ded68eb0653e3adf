package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/api/streams"
	"github.com/csisim/csisim/internal/driver/certificate"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"

	_ "embed"
)

// upFlags are the flags of csisim up.
type upFlags struct {
	file, kubeconfig, name string
	port                   int
	speed                  float64
	isolation, workDir     string
	hostPaths              []string
	unmapped               string
	pull                   bool
	authorization          string
	network                string
}

func newUp(env environment) *cobra.Command {
	var f upFlags
	command := &cobra.Command{
		Use:   "up",
		Short: "Run a live cluster for kubectl and other clients",
		Long: `Run a cluster by the real clock, with a Kubernetes API on loopback, until it is
stopped. A scenario that is given is played first, as fast as it goes; the cluster
then lives on from there. The same port shows it to a browser.

The cluster is added to the kubeconfig that kubectl uses, or to the one that
--kubeconfig names, and taken out again at the end; what else is in it stays.
After a SIGKILL 'csisim down' does that, or 'csisim clean'.`,
		Example: `  csisim up
  csisim up -f cluster.yaml --kubeconfig ./kubeconfig
  kubectl --context csisim get nodes`,
		Args: atMost(0),
		RunE: func(command *cobra.Command, _ []string) error {
			if f.speed <= 0 {
				return usage("--speed %v: it must be more than 0", f.speed)
			}
			if !slices.Contains(unmappedModes, f.unmapped) {
				return usage("%w", unknown("mode of --unmapped", f.unmapped, unmappedModes))
			}
			if f.pull && command.Flags().Changed("unmapped") {
				return usage("--pull and --unmapped: an image that the file does not map is either fetched or not: leave one out")
			}
			if !slices.Contains(authorizations, f.authorization) {
				return usage("%w", unknown("mode of --authorization", f.authorization, authorizations))
			}
			if !slices.Contains(networkModes, f.network) {
				return usage("%w", unknown("mode of --network", f.network, networkModes))
			}
			if err := checkName(f.name); err != nil {
				return err
			}
			if err := checkIsolation(f.isolation); err != nil {
				return err
			}
			if err := checkHostPaths(f.hostPaths); err != nil {
				return err
			}
			return up(command.Context(), env, f)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.file, "file", "f", "", "scenario `FILE` with the cluster, its drivers and its first objects (default two nodes and a driver in memory)")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "add the cluster to the kubeconfig `FILE` (default the one that kubectl uses)")
	nameFlag(flags, &f.name)
	flags.IntVar(&f.port, "port", 0, "`PORT` of the API and the page on loopback (default any that is free)")
	flags.Float64Var(&f.speed, "speed", 1, "how many times as fast as the real clock the cluster lives")
	isolationFlag(flags, &f.isolation)
	flags.StringVar(&f.workDir, "work-dir", "", "`DIR` for the files of the cluster (default the system's temporary directory)")
	hostPathFlag(command, &f.hostPaths)
	flags.StringVar(&f.unmapped, "unmapped", record, "containers of images that the file does not map: `MODE` is record (they run nothing) or refuse (their images cannot be pulled)")
	flags.BoolVar(&f.pull, "pull", false, "fetch images that the file does not map from their registries, with docker's credentials; what was fetched is kept in the user's cache")
	complete(command, "unmapped", cobra.FixedCompletions(unmappedModes, cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&f.authorization, "authorization", alwaysAllow, "who may do what with the API: `MODE` is none (everybody everything) or rbac (what roles and bindings allow)")
	complete(command, "authorization", cobra.FixedCompletions(authorizations, cobra.ShellCompDirectiveNoFileComp))
	networkFlag(flags, &f.network)
	complete(command, "network", cobra.FixedCompletions(networkModes, cobra.ShellCompDirectiveNoFileComp))
	complete(command, "isolation", cobra.FixedCompletions(isolations, cobra.ShellCompDirectiveNoFileComp))
	complete(command, "file", completeScenarios)
	for _, flag := range []string{"name", "port", "speed"} {
		complete(command, flag, cobra.NoFileCompletions)
	}
	return command
}

//go:embed up.yaml
var defaultCluster []byte

func up(ctx context.Context, env environment, f upFlags) (err error) {
	if !namespaces.Entered() {
		cleanBefore(env, f.workDir)
	}
	reading := interruptible(ctx)
	s, err := f.scenario(env)
	reading()
	if err != nil {
		return err
	}
	if done, err := isolate(ctx, env, f.isolation, f.workDir, []*scenario.Scenario{s}); done {
		return err
	}
	claimed, err := claimName(f.name)
	if err != nil {
		return err
	}
	defer func() {
		if failed := claimed.release(); failed != nil && err == nil {
			err = &failure{code: exitEnvironment, err: failed}
		}
	}()
	token, err := newToken()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port)))
	if err != nil {
		return &failure{code: exitEnvironment, err: fmt.Errorf("listening for clients: %w", err)}
	}
	defer listener.Close()
	serving, authority, err := certificate.New()
	if err != nil {
		return err
	}
	shown, err := newPage(listener.Addr().String())
	if err != nil {
		return err
	}
	access := &access{name: f.name, page: shown.address(), address: "https://" + shown.host, token: token, authority: authority, file: f.kubeconfig, claim: claimed}
	roots, err := rootFileSystems(ctx, s)
	if err != nil {
		return err
	}
	pull, err := f.puller()
	if err != nil {
		return err
	}
	joined, err := f.connect(env, s)
	if err != nil {
		return err
	}
	options := scenario.RunOptions{
		RootFS: roots, RefuseUnmapped: f.unmapped == refuse, Pull: pull,
		WorkDir: f.workDir, Isolation: sim.Isolation(f.isolation), HostPaths: f.hostPaths, Token: token, Start: time.Now(), OnDisk: true,
		Address: shown.host, Authority: authority,
		Inspect: func(c *sim.Simulation) error {
			f.sayUnmapped(env, s)
			missing, err := f.authorize(env, c)
			if err != nil {
				return err
			}
			if joined != nil {
				joined.Serve(c.Discovery())
			}
			return errors.Join(live(ctx, env, c, newPort(listener, serving), access, shown, f.speed), missing.print(env.stdout))
		},
	}
	if joined != nil {
		defer joined.Close()
		options.Network = joined
	}
	result, err := scenario.Run(ctx, s, options)
	if result != nil && len(result.Notes) > 0 {
		fmt.Fprintln(env.stdout, strings.Join(result.Notes, "\n"))
	}
	switch {
	case err != nil && ctx.Err() == nil:
		return err
	case result != nil && result.Exit != scenario.Passed && ctx.Err() == nil:
		for _, failed := range result.Failures {
			fmt.Fprint(env.stderr, trace.Escaped(failed.Text(result.Names)))
		}
		return reported(exitFailed)
	}
	return nil
}

func (f upFlags) scenario(env environment) (*scenario.Scenario, error) {
	if f.file == "" {
		return scenario.Parse("up.yaml", defaultCluster)
	}
	loaded, err := load(env, []string{f.file})
	if err != nil {
		return nil, err
	}
	if names := loaded[0].Clusters; len(names) > 0 {
		return nil, usage("%s: clusters: csisim up lives one cluster, and the scenario has %d (%s): csisim run runs it", f.file, len(names), strings.Join(names, ", "))
	}
	return loaded[0], nil
}

func newToken() (string, error) {
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return "", fmt.Errorf("making a token: %w", err)
	}
	return hex.EncodeToString(secret), nil
}

// live serves the cluster until ctx is done.
func live(ctx context.Context, env environment, c *sim.Simulation, listener net.Listener, a *access, shown *page, speed float64) error {
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
	shown.text, shown.more = look.page, map[string]http.HandlerFunc{"/news": look.answer}
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // each connection that a client breaks off is an error to the library
	api := c.API()
	api.ServeStreams(streams.Server{})
	stop := serve(listener, shown.beside(api))
	fmt.Fprintf(env.stdout, "Cluster %q is up at %s\n%s\nSee it in a browser: %s\nStop it with Ctrl-C or: csisim down --name %s\n",
		a.name, a.address, a.hint(), a.page, a.name)
	err = c.Live(ctx, speed)
	return errors.Join(err, stop())
}

// serve answers clients until stop is called. Whoever is connected then sees it by the end
// of the connection.
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
