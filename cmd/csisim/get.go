package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/csisim/csisim/cmd/internal/live"
)

func newGet(env environment) *cobra.Command {
	get := &cobra.Command{Use: "get", Short: "Show details of a live cluster", Args: needs("the detail to show")}
	get.AddCommand(
		newGetOne(env, "kubeconfig", "Print the kubeconfig of a live cluster", printKubeconfig),
		newGetOne(env, "page", "Print the address of a live cluster's page, for a browser", printPage),
		newGetOne(env, "sockets", "List the sockets of a live cluster's drivers, for sidecars: driver, node, path, path of CSI-Addons if it differs", printSockets),
		newGetOne(env, "directories", "List the kubelet directories of a live cluster's nodes, for registrars: node, path", printDirectories),
		newGetOne(env, "ssh-key", "Print the private key for SSH to a live cluster's nodes", printSSHKey),
		newGetOne(env, "ssh-address", "Print the SSH address of a live cluster's nodes: log in as the node, or use it as a bastion", printSSHAddress),
	)
	return get
}

func newGetOne(env environment, what, short string, write func(out io.Writer, name string, cluster live.State) error) *cobra.Command {
	var name string
	command := &cobra.Command{
		Use:   what,
		Short: short,
		Args:  atMost(0),
		RunE: func(*cobra.Command, []string) error {
			if err := checkName(name); err != nil {
				return err
			}
			cluster, err := live.Find(name)
			if err != nil {
				return usage("cluster %q %w", name, err)
			}
			return write(env.stdout, name, cluster)
		},
	}
	nameFlag(command.Flags(), &name)
	complete(command, "name", cobra.NoFileCompletions)
	return command
}

func printKubeconfig(out io.Writer, name string, cluster live.State) error {
	text, err := clientcmd.Write(*cluster.Config(name))
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}

func printPage(out io.Writer, _ string, cluster live.State) error {
	_, err := fmt.Fprintln(out, cluster.Page)
	return err
}

func printSockets(out io.Writer, name string, cluster live.State) error {
	if len(cluster.Endpoints) == 0 {
		return noFiles(name)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range cluster.Endpoints {
		line := []string{e.Driver, e.Node, e.Socket}
		if e.Addons != "" {
			line = append(line, e.Addons)
		}
		fmt.Fprintln(table, strings.Join(line, "\t"))
	}
	return table.Flush()
}

func printDirectories(out io.Writer, name string, cluster live.State) error {
	if len(cluster.Directories) == 0 {
		return noFiles(name)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, d := range cluster.Directories {
		fmt.Fprintf(table, "%s\t%s\n", d.Node, d.Path)
	}
	return table.Flush()
}

func noFiles(name string) error {
	return usage("cluster %q is in memory: it has sockets and directories if a driver is a program or has sidecars that are external", name)
}

func printSSHKey(out io.Writer, _ string, cluster live.State) error {
	_, err := out.Write(cluster.SSH.Key)
	return err
}

func printSSHAddress(out io.Writer, _ string, cluster live.State) error {
	_, err := fmt.Fprintln(out, cluster.SSH.Address)
	return err
}
