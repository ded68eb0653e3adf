package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/namespaces"
)

// access is how clients find a live cluster.
type access struct {
	name, address, token, page string
	authority                  []byte // the certificate in PEM that clients trust
	// file is the kubeconfig of its own, "" to merge into the user's.
	file string
	// endpoints and directories are where others find drivers and kubelets.
	endpoints   []sim.Endpoint
	directories []sim.Directory
	lock        *os.File // open while the cluster is up
}

// remembered is what is remembered of a live cluster, for down and get. Its process
// keeps the file locked for as long as it lives.
type remembered struct {
	PID                  int
	Address, Token, Page string
	Authority            []byte
	Endpoints            []sim.Endpoint
	Directories          []sim.Directory
}

// grant writes the kubeconfig and remembers the cluster.
func (a *access) grant() error {
	if known, err := find(a.name); err == nil {
		return &failure{code: exitInput, err: fmt.Errorf("cluster %q is up already, as process %d; give this one another --name", a.name, known.PID)}
	}
	if err := a.write(); err != nil {
		return &failure{code: exitEnvironment, err: fmt.Errorf("writing the kubeconfig: %w", err)}
	}
	path, err := stateFile(a.name)
	if err != nil {
		return err
	}
	text, err := json.Marshal(remembered{namespaces.PID(), a.address, a.token, a.page, a.authority, a.endpoints, a.directories})
	if err != nil {
		return err
	}
	if err := a.remember(path, text); err != nil {
		return &failure{code: exitEnvironment, err: fmt.Errorf("remembering the cluster: %w", err)}
	}
	return nil
}

// remember writes the file and locks it until the process ends.
func (a *access) remember(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	a.lock = file
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	_, err = file.Write(text)
	return err
}

// release ends the lock, for whoever waits for the end of the cluster.
func (a *access) release() {
	if a.lock != nil {
		_ = a.lock.Close()
	}
}

func (a *access) write() error {
	if a.file != "" {
		return clientcmd.WriteToFile(*a.config(), a.file)
	}
	return a.change(func(config *api.Config) {
		own := a.config()
		config.Clusters[a.name], config.AuthInfos[a.name], config.Contexts[a.name] = own.Clusters[a.name], own.AuthInfos[a.name], own.Contexts[a.name]
		config.CurrentContext = a.name
	})
}

// revoke takes back what grant did.
func (a *access) revoke() {
	if path, err := stateFile(a.name); err == nil {
		_ = os.Remove(path)
	}
	if a.file != "" {
		_ = os.Remove(a.file)
		return
	}
	_ = a.change(func(config *api.Config) {
		delete(config.Clusters, a.name)
		delete(config.AuthInfos, a.name)
		delete(config.Contexts, a.name)
		if config.CurrentContext == a.name {
			config.CurrentContext = ""
		}
	})
}

// change changes the kubeconfig that kubectl uses.
func (a *access) change(change func(*api.Config)) error {
	options := clientcmd.NewDefaultPathOptions()
	config, err := options.GetStartingConfig()
	if err != nil {
		return err
	}
	change(config)
	return clientcmd.ModifyConfig(options, *config, true)
}

func (a *access) config() *api.Config {
	config := api.NewConfig()
	config.Clusters[a.name] = &api.Cluster{Server: a.address, CertificateAuthorityData: a.authority}
	config.AuthInfos[a.name] = &api.AuthInfo{Token: a.token}
	config.Contexts[a.name] = &api.Context{Cluster: a.name, AuthInfo: a.name}
	config.CurrentContext = a.name
	return config
}

// hint tells how to use the cluster.
func (a *access) hint() string {
	if a.file != "" {
		return fmt.Sprintf("Use it with: kubectl --kubeconfig %s get nodes", a.file)
	}
	return fmt.Sprintf("Use it with: kubectl --context %s get nodes", a.name)
}

func stateFile(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", &failure{code: exitEnvironment, err: err}
	}
	dir := filepath.Join(cache, "csisim", "up")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", &failure{code: exitEnvironment, err: err}
	}
	return filepath.Join(dir, name+".json"), nil
}

var errNotUp = errors.New("is not up")

// find is a cluster that is up.
func find(name string) (remembered, error) {
	var r remembered
	path, err := stateFile(name)
	if err != nil {
		return r, err
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, errNotUp
	}
	if err != nil {
		return r, err
	}
	defer file.Close()
	if syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		_ = os.Remove(path) // its process was killed
		return r, errNotUp
	}
	if err := json.NewDecoder(file).Decode(&r); err != nil {
		return r, fmt.Errorf("reading %s: %w", path, err)
	}
	return r, nil
}

// stop ends a live cluster and waits for the end of its process.
func stop(name string) error {
	cluster, err := find(name)
	if err != nil {
		return usage("cluster %q %w", name, err)
	}
	path, err := stateFile(name)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
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
	name := "csisim"
	command := &cobra.Command{
		Use:   "down",
		Short: "Stop a live cluster",
		Args:  atMost(0),
		RunE: func(*cobra.Command, []string) error {
			if err := stop(name); err != nil {
				return err
			}
			fmt.Fprintf(env.stdout, "Cluster %q is down\n", name)
			return nil
		},
	}
	command.Flags().StringVar(&name, "name", name, "`NAME` of the cluster")
	complete(command, "name", cobra.NoFileCompletions)
	return command
}
