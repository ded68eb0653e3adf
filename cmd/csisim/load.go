package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/internal/world/namespaces"
)

func newLoad(env environment) *cobra.Command {
	var f loadFlags
	command := &cobra.Command{
		Use:   "load [flags] SCENARIO | -- DRIVER ARGS... [-- CONTROLLER ARGS...]",
		Short: "Measure a driver with many volumes, and whether a build made it slower",
		Long: `Measure a driver under load: how long pods take to start and to end with more and more
volumes, how long each call takes, whether this time grows with the number of volumes,
and which resources the driver's programs use. Kubernetes is simulated with the worker threads, request
limits, timeouts and retries of each sidecar, and of the kubelet.

Waits of Kubernetes take no real time. Each call takes as much cluster time as the
driver takes real time, and calls overlap as they do in the driver. So "all pods run
after 41 s" is the time on a cluster with nodes as fast as this machine.
--latency adds the time of a backend. --clock real makes everything take real time.

DRIVER ARGS is as for csisim check. SCENARIO is a file with a cluster, a driver and a
step that applies copies of a file: that is the workload then.`,
		Example: `  csisim load -- my-driver --endpoint={{.Endpoint}}
  csisim load --profile hostpath --binary ./hostpathplugin --volumes 1,10,100,1000
  csisim load my-pods.yaml --volumes 10,100
  csisim load --shape restart --json after.json -- my-driver --endpoint={{.Endpoint}}
  csisim load --latency CreateVolume=2s±20% --sidecar 'csi-provisioner: {kubeAPIQPS: 50}' -- my-driver --endpoint={{.Endpoint}}
  csisim load --fail-if 'p99(NodeStageVolume) > 2s' -- my-driver --endpoint={{.Endpoint}}`,
		RunE: func(command *cobra.Command, args []string) error {
			return f.run(env, command, args)
		},
	}
	f.addTo(command)
	return command
}

// run runs the load that the command line describes, prints its Job, or merges its shards.
func (f loadFlags) run(env environment, command *cobra.Command, args []string) error {
	if err := f.shardFlags.check(command.Flags()); err != nil {
		return err
	}
	plan, err := f.plan()
	if err != nil {
		return err
	}
	terminal := report.TerminalOf(env.stdout, env.getenv)
	l := &loading{env: env, flags: f, terminal: terminal, progress: newProgress(env, terminal)}
	if f.merge != "" {
		if len(args) > 0 {
			return usage("--merge and %s: it reads the results of shards, and starts no driver", args[0])
		}
		return l.showMerged()
	}
	if len(args) == 1 && command.ArgsLenAtDash() < 0 && strings.HasSuffix(args[0], ".yaml") {
		return l.ofScenario(command, args[0], plan)
	}
	subject, _, err := f.subject(args, command.ArgsLenAtDash())
	if err != nil {
		return err
	}
	against, err := f.other()
	if err != nil {
		return err
	}
	if l.baseline, err = f.readBaseline(plan); err != nil {
		return err
	}
	if f.job > 0 {
		return f.write(env, command.Flags(), args)
	}
	if err := f.asRun().check(); err != nil {
		return err
	}
	if !namespaces.Entered() {
		cleanBefore(env, f.workDir)
	}
	if done, err := f.asRun().isolateSubject(command.Context(), env, subject); done {
		return err
	}
	return l.reserved(func() error {
		builds, err := l.builds(command.Context(), subject, against, plan)
		if err != nil {
			return err
		}
		return l.play(command.Context(), builds)
	})
}
