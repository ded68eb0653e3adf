package live

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// access gives clients access to a live cluster.
type access struct {
	name string
	// file is the kubeconfig that a flag names; "" selects the file that kubectl uses.
	file  string
	claim *Claim // on the name
	State
}

// grant adds the cluster to the kubeconfig and records the change.
func (a *access) grant() error {
	file := kubeconfigFile(a.file)
	err := withLock(file, func() error {
		change, err := planKubeconfig(file, a.name, a.Config(a.name))
		if err == nil {
			err = a.claim.write(change)
		}
		if err == nil {
			err = change.apply()
		}
		return err
	})
	if err != nil {
		return &EnvironmentError{fmt.Errorf("writing the kubeconfig: %w", err)}
	}
	if err := writeState(a.name, a.State); err != nil {
		return &EnvironmentError{fmt.Errorf("remembering the cluster: %w", err)}
	}
	return nil
}

// Config returns the kubeconfig of the cluster alone, under a name.
func (s State) Config(name string) *api.Config {
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: s.Address, CertificateAuthorityData: s.Authority}
	config.AuthInfos[name] = &api.AuthInfo{Token: s.Token}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return config
}

// hint explains how to use the cluster.
func (a *access) hint() string {
	if a.file != "" {
		return fmt.Sprintf("Use it with: kubectl --kubeconfig %s --context %s get nodes", a.file, a.name)
	}
	return fmt.Sprintf("Use it with: kubectl --context %s get nodes", a.name)
}

// Stop ends a live cluster and waits until its process has ended.
func Stop(name string) error {
	cluster, err := Find(name)
	if err != nil {
		return &InputError{fmt.Errorf("cluster %q %w", name, err)}
	}
	dir, err := upDir()
	if err != nil {
		return err
	}
	file, err := os.Open(filepath.Join(dir, name+claimSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the process has just ended
	}
	if err != nil {
		return &EnvironmentError{err}
	}
	defer file.Close()
	if err := syscall.Kill(cluster.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return &EnvironmentError{fmt.Errorf("stopping process %d: %w", cluster.PID, err)}
	}
	return syscall.Flock(int(file.Fd()), syscall.LOCK_SH)
}

// ClusterIn returns the name of the only live cluster in a kubeconfig.
func ClusterIn(file string) (string, error) {
	config, err := clientcmd.LoadFromFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", err
	case err != nil:
		return "", fmt.Errorf("it is no kubeconfig: %w", err)
	}
	contexts := slices.Sorted(maps.Keys(config.Contexts))
	names := slices.DeleteFunc(slices.Clone(contexts), func(name string) bool {
		_, err := readState(name)
		return err != nil
	})
	switch len(names) {
	case 0:
		dir, err := upDir()
		if err != nil {
			return "", err
		}
		return "", fmt.Errorf("found the contexts %q, want one of a cluster that csisim up describes in %s", contexts, dir)
	case 1:
		return names[0], nil
	}
	return "", fmt.Errorf("it has several clusters of csisim up, %s: choose one with --name", strings.Join(names, ", "))
}
