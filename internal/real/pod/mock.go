package pod

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/internal/real/mockprogram"
	"github.com/csisim/csisim/internal/real/proxy"
	"github.com/csisim/csisim/sim"
)

// Mock returns the command for containers of the reference driver.
func Mock() *cobra.Command {
	var options, socket, address, orders, volumes string
	node := mockprogram.Node{}
	var zones map[string]string
	command := &cobra.Command{
		Use:    "mock",
		Short:  "Serve the reference driver in memory on real sockets",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			token := os.Getenv(tokenVariable)
			switch {
			case node.ID != "":
				node.Zone = zones[node.ID]
				node.Socket, node.Token, node.Volumes, node.Backend = socket, token, volumes, address
				return node.Serve(command.Context())
			case !command.Flags().Changed("options"):
				return mockprogram.Controller{Socket: socket, Backend: address, Token: token}.Serve(command.Context())
			}
			backend := mockprogram.Backend{Socket: socket, Address: address, Orders: orders, Token: token}
			if err := json.Unmarshal([]byte(options), &backend.Options); err != nil {
				return &sim.ConfigError{Subject: "--options", Problem: err.Error()}
			}
			return backend.Serve(command.Context())
		},
	}
	flags := command.Flags()
	flags.StringVar(&socket, "socket", "", "the plugin's `SOCKET`")
	flags.StringVar(&address, "backend", "", "`HOST:PORT` of the backend")
	flags.StringVar(&orders, "orders", "", "`HOST:PORT` where the backend takes orders; default nowhere")
	flags.StringVar(&options, "options", "{}", "options of the driver as `JSON`: this is the backend and, with --socket, the controller plugin")
	flags.StringVar(&node.ID, "node-id", "", "`ID` of the node; without it this is the controller plugin")
	flags.StringToStringVar(&zones, "zones", nil, "`ID=ZONE` of the nodes")
	flags.StringVar(&node.Host, "host", "", "`ADDRESS` of this node's plugin")
	flags.StringVar(&volumes, "volumes", "/var/lib/csisim/volumes", "`DIR` with the content of volumes")
	return command
}

// Keep returns the command that runs a registrar. The run can stop it and start it again.
func Keep() *cobra.Command {
	var o proxy.KeepOptions
	var dir string
	command := &cobra.Command{
		Use: "keep", Short: "Run a program, and end and start it on order", Hidden: true,
		RunE: func(command *cobra.Command, args []string) error {
			if dir != "" {
				return copyInto(dir, args)
			}
			if len(args) == 0 {
				return &sim.ConfigError{Subject: "csisim keep", Problem: "a command is missing"}
			}
			o.Command, o.Token = args, os.Getenv(tokenVariable)
			return proxy.Keep(command.Context(), o)
		},
	}
	command.Flags().StringVar(&o.Address, "address", "", "`HOST:PORT` of orders")
	command.Flags().StringVar(&dir, "copy", "", "only copy the files that are given to `DIR`")
	return command
}

// Node returns the command of the pod that runs programs on its node.
func Node() *cobra.Command {
	o := proxy.NodeOptions{Token: os.Getenv(tokenVariable)}
	command := &cobra.Command{
		Use: "node", Short: "Run commands on the node of this pod, on order", Hidden: true, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if o.Token == "" {
				return &sim.ConfigError{Subject: "csisim node", Problem: "without a token any client could run commands: set the variable " + tokenVariable}
			}
			return proxy.Node(command.Context(), o)
		},
	}
	command.Flags().StringVar(&o.Address, "address", "", "`HOST:PORT` of orders")
	return command
}

// copyInto copies programs and libraries.
func copyInto(dir string, files []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o755)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Sleep returns the command that replaces container images that only sleep.
func Sleep() *cobra.Command {
	return &cobra.Command{
		Use: "sleep", Short: "Sleep until SIGTERM", Hidden: true, DisableFlagParsing: true,
		RunE: func(command *cobra.Command, _ []string) error {
			<-command.Context().Done()
			return nil
		},
	}
}
