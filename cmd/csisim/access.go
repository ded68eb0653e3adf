package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/sim"
)

// access gives clients the way to a live cluster.
type access struct {
	name, address, token, page string
	authority                  []byte // the PEM certificate that clients trust
	// file is the kubeconfig named by a flag; "" selects the one that kubectl uses.
	file string
	// endpoints and directories are the addresses of drivers and kubelets, for users.
	endpoints   []sim.Endpoint
	directories []sim.Directory
	ssh         login
	claim       *claim // on the name
}

// grant adds the cluster to the kubeconfig and remembers it.
func (a *access) grant() error {
	file := kubeconfigFile(a.file)
	err := withLock(file, func() error {
		change, err := planKubeconfig(file, a.name, a.config())
		if err == nil {
			err = a.claim.write(change)
		}
		if err == nil {
			err = change.apply()
		}
		return err
	})
	if err != nil {
		return &failure{code: exitEnvironment, err: fmt.Errorf("writing the kubeconfig: %w", err)}
	}
	state := liveState{namespaces.PID(), a.address, a.token, a.page, a.authority, a.endpoints, a.directories, a.ssh}
	if err := writeState(a.name, state); err != nil {
		return &failure{code: exitEnvironment, err: fmt.Errorf("remembering the cluster: %w", err)}
	}
	return nil
}

func (a *access) config() *api.Config {
	config := api.NewConfig()
	config.Clusters[a.name] = &api.Cluster{Server: a.address, CertificateAuthorityData: a.authority}
	config.AuthInfos[a.name] = &api.AuthInfo{Token: a.token}
	config.Contexts[a.name] = &api.Context{Cluster: a.name, AuthInfo: a.name}
	config.CurrentContext = a.name
	return config
}

// hint explains how to use the cluster.
func (a *access) hint() string {
	if a.file != "" {
		return fmt.Sprintf("Use it with: kubectl --kubeconfig %s --context %s get nodes", a.file, a.name)
	}
	return fmt.Sprintf("Use it with: kubectl --context %s get nodes", a.name)
}

// stop ends a live cluster and waits for the end of its process.
func stop(name string) error {
	cluster, err := find(name)
	if err != nil {
		return usage("cluster %q %w", name, err)
	}
	dir, err := upDir()
	if err != nil {
		return err
	}
	file, err := os.Open(filepath.Join(dir, name+claimSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has just ended
	}
	if err != nil {
		return &failure{code: exitEnvironment, err: err}
	}
	defer file.Close()
	if err := syscall.Kill(cluster.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return &failure{code: exitEnvironment, err: fmt.Errorf("stopping process %d: %w", cluster.PID, err)}
	}
	return syscall.Flock(int(file.Fd()), syscall.LOCK_SH)
}

func newDown(env environment) *cobra.Command {
	var name, file string
	command := &cobra.Command{
		Use:   "down",
		Short: "Stop a live cluster",
		Long:  `Stop a live cluster. If it was killed, remove its entries from the kubeconfig.`,
		Args:  atMost(0),
		RunE: func(command *cobra.Command, _ []string) error {
			if file != "" && !command.Flags().Changed("name") {
				var err error
				if name, err = clusterIn(file); err != nil {
					return err
				}
			}
			if err := checkName(name); err != nil {
				return err
			}
			killed, err := undoKilled(name)
			switch {
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				return &failure{code: exitEnvironment, err: err}
			case killed:
				fmt.Fprintf(env.stdout, "Cluster %q had been killed; it is out of the kubeconfig now\n", name)
				return nil
			}
			if err := stop(name); err != nil {
				return err
			}
			fmt.Fprintf(env.stdout, "Cluster %q is down\n", name)
			return nil
		},
	}
	nameFlag(command.Flags(), &name)
	command.Flags().StringVar(&file, "kubeconfig", "", "stop the cluster that csisim up added to the kubeconfig `FILE`")
	complete(command, "name", cobra.NoFileCompletions)
	return command
}

// clusterIn returns the name of the one live cluster that a kubeconfig has.
func clusterIn(file string) (string, error) {
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		return "", usage("--kubeconfig %s: %w", file, reason(err))
	}
	var names []string
	for name := range config.Contexts {
		if _, err := readState(name); err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	switch len(names) {
	case 0:
		return "", usage("--kubeconfig %s: it has no cluster of csisim up", file)
	case 1:
		return names[0], nil
	}
	return "", usage("--kubeconfig %s: it has several clusters of csisim up, %s: choose one with --name", file, strings.Join(names, ", "))
}
