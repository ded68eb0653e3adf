package main

import (
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/mockprogram"
)

// newMock is what containers of the reference driver run in a real cluster.
func newMock() *cobra.Command {
	var options, socket, address, volumes string
	node := mockprogram.Node{}
	command := &cobra.Command{
		Use:    "mock",
		Short:  "Serve the reference driver in memory on real sockets",
		Hidden: true,
		Args:   atMost(0),
		RunE: func(command *cobra.Command, _ []string) error {
			token := os.Getenv(tokenVariable)
			switch {
			case node.ID != "":
				node.Socket, node.Token, node.Volumes, node.Backend = socket, token, volumes, address
				return node.Serve(command.Context())
			case !command.Flags().Changed("options"):
				return mockprogram.Controller{Socket: socket, Backend: address, Token: token}.Serve(command.Context())
			}
			backend := mockprogram.Backend{Socket: socket, Address: address, Token: token}
			if err := json.Unmarshal([]byte(options), &backend.Options); err != nil {
				return usage("--options: %w", err)
			}
			return backend.Serve(command.Context())
		},
	}
	flags := command.Flags()
	flags.StringVar(&socket, "socket", "", "the plugin's `SOCKET`")
	flags.StringVar(&address, "backend", "", "`HOST:PORT` of the backend")
	flags.StringVar(&options, "options", "{}", "options of the driver as `JSON`: this is the backend and, with --socket, the controller plugin")
	flags.StringVar(&node.ID, "node-id", "", "`ID` of the node; without it this is the controller plugin")
	flags.StringVar(&node.Zone, "zone", "", "`ZONE` of the node")
	flags.StringVar(&node.Host, "host", "", "`ADDRESS` of this node's plugin")
	flags.StringVar(&volumes, "volumes", "/var/lib/csisim/volumes", "`DIR` with what volumes hold")
	return command
}

// newSleep is what stands in for images of containers that only sleep.
func newSleep() *cobra.Command {
	return &cobra.Command{
		Use: "sleep", Short: "Sleep until SIGTERM", Hidden: true, DisableFlagParsing: true,
		RunE: func(command *cobra.Command, _ []string) error {
			<-command.Context().Done()
			return nil
		},
	}
}
