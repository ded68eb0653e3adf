// Package pod has the commands of a real cluster's containers. Their images contain csisim's own
// program, or the binary of a test.
package pod

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/internal/real/proxy"
	"github.com/csisim/csisim/sim"
)

// tokenVariable is the environment variable with the bearer token for clients of a proxy.
const tokenVariable = "CSISIM_TOKEN"

// Proxy returns the command of the proxy between the callers of a driver and the driver.
func Proxy() *cobra.Command {
	var o proxy.Options
	command := &cobra.Command{
		Use:   "proxy --driver NAME --upstream SOCKET --listen CALLER=SOCKET... --records DIR [-- COMMAND...]",
		Short: "Stand between the callers of a driver and the driver, and record every call",
		Long: `Stand between the callers of a CSI driver (kubelet, registrar, sidecars) and the
driver, with one socket for each caller. Every call is recorded with its secrets
redacted and checked against the CSI spec; faults act on it here.

Records are written to --records before an answer goes to its caller. With
--address they are read, and faults set, over HTTP:

  GET /records?follow=true   the records as JSON Lines, and those that come
  POST /faults               a fault as JSON;  DELETE /faults?name=NAME ends it
  POST /driver/kill          SIGKILL for the driver given as COMMAND, or --listening;
                             also stop, start

Clients bear the token of the variable ` + tokenVariable + ` in the header ` + proxy.TokenHeader + `.
A driver given as COMMAND is started, and started again when it ends, as the kubelet
does with containers.`,
		Hidden: true, // csisim puts it into the pods that it deploys
		Example: `  csisim proxy --driver disk.example.com --node node-a --upstream /csi/driver.sock \
    --listen kubelet=/csi/csi.sock --listen node-driver-registrar=/csi/registrar.sock --records /var/log/csi`,
		RunE: func(command *cobra.Command, args []string) error {
			o.Command, o.Token = args, os.Getenv(tokenVariable)
			if err := checkProxy(o); err != nil {
				return err
			}
			if err := proxy.Run(command.Context(), o); err != nil {
				return &sim.EnvironmentError{Doing: o.String(), Err: err}
			}
			return nil
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.Driver, "driver", "", "the driver's `NAME`")
	flags.StringVar(&o.Node, "node", "", "`NAME` of the plugin's node (default none: the controller plugin)")
	flags.StringVar(&o.Upstream, "upstream", "", "the driver's `SOCKET`")
	flags.StringToStringVar(&o.Listen, "listen", nil, "`CALLER=SOCKET`: the socket that a caller uses")
	flags.StringVar(&o.Records, "records", "", "`DIR` of the records")
	flags.StringVar(&o.Address, "address", "", "`HOST:PORT` at which records are read and faults set (default nowhere)")
	flags.BoolVar(&o.Listening, "listening", false, "orders and faults end the process that listens at --upstream, which is started again elsewhere; the proxy has to see it")
	flags.BoolVar(&o.Strict, "strict", false, "also report deviations from the CSI spec that Kubernetes does not depend on")
	for _, flag := range []string{"driver", "node", "listen", "address"} {
		// The flag exists.
		_ = command.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
	return command
}

func checkProxy(o proxy.Options) error {
	var missing []string
	for _, flag := range []struct{ name, value string }{{"--driver", o.Driver}, {"--upstream", o.Upstream}, {"--records", o.Records}} {
		if flag.value == "" {
			missing = append(missing, flag.name)
		}
	}
	if len(o.Listen) == 0 {
		missing = append(missing, "--listen")
	}
	if len(missing) > 0 {
		return &sim.ConfigError{Subject: "csisim proxy", Problem: strings.Join(missing, ", ") + " is missing"}
	}
	for caller, socket := range o.Listen {
		if socket == o.Upstream {
			return &sim.ConfigError{Subject: "--listen " + caller + "=" + socket, Problem: "that is the driver's own socket"}
		}
	}
	if o.Address != "" && o.Token == "" {
		return &sim.ConfigError{Subject: "--address without a token", Problem: "without a token any client could inject faults: set the variable " + tokenVariable}
	}
	return nil
}
