package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// NodeOptions describe the server that runs commands on the node of its pod. The pod is privileged
// and shares the node's processes.
type NodeOptions struct {
	// Address is the server's address, host:port; clients must have the Token.
	Address, Token string
}

// NodeCommand is a command for a node, NodeOutput its result.
type (
	NodeCommand struct {
		Command []string `json:"command"`
	}
	NodeOutput struct {
		Output string `json:"output"`
		// Error is the failure of the command; empty if it succeeded.
		Error string `json:"error,omitempty"`
	}
)

// nodePath is the PATH of nodes, because the PATH of an image differs or is missing.
const nodePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin"

// Node runs commands until ctx ends. Unlike 'kubectl exec' it works while the kubelet is down.
func Node(ctx context.Context, o NodeOptions) error {
	if err := os.Setenv("PATH", nodePath); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		return fmt.Errorf("listen for commands: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /run", commanded(func(w http.ResponseWriter, r *http.Request, command []string) {
		var out strings.Builder
		var done NodeOutput
		if err := onNode(r.Context(), command, &out); err != nil {
			done.Error = err.Error()
		}
		done.Output = out.String()
		_ = json.NewEncoder(w).Encode(done) // the reader may have disconnected
	}))
	mux.HandleFunc("POST /follow", commanded(func(w http.ResponseWriter, r *http.Request, command []string) {
		_ = onNode(r.Context(), command, atOnce{w}) // the reader has the output
	}))
	server := &http.Server{Handler: Bearing(o.Token, mux), ReadHeaderTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case <-ctx.Done():
		return server.Close()
	case err := <-failed:
		return errors.Join(err, server.Close())
	}
}

// commanded reads the command of a request.
func commanded(do func(http.ResponseWriter, *http.Request, []string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked NodeCommand
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Command) == 0 {
			http.Error(w, "read the command: there is none", http.StatusBadRequest)
			return
		}
		do(w, r, asked.Command)
	}
}

// atOnce flushes each write.
type atOnce struct{ http.ResponseWriter }

func (w atOnce) Write(text []byte) (int, error) {
	n, err := w.ResponseWriter.Write(text)
	return n, errors.Join(err, http.NewResponseController(w.ResponseWriter).Flush())
}
