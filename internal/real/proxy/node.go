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

// NodeOptions describe who runs commands on the node of its pod. The pod is privileged and shares the node's processes.
type NodeOptions struct {
	// Address is where it is asked, host:port; Token what clients have to bear.
	Address, Token string
}

// NodeCommand is a command for a node, NodeOutput what came of it.
type (
	NodeCommand struct {
		Command []string `json:"command"`
	}
	NodeOutput struct {
		Output string `json:"output"`
		// Error is why it failed; empty if it did not.
		Error string `json:"error,omitempty"`
	}
)

// nodePath is where nodes have their programs: an image has another, or none.
const nodePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin"

// Node runs commands until ctx ends. It answers while the kubelet is down, which would serve 'kubectl exec'.
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
		_ = json.NewEncoder(w).Encode(done) // the reader is gone
	}))
	mux.HandleFunc("POST /follow", commanded(func(w http.ResponseWriter, r *http.Request, command []string) {
		_ = onNode(r.Context(), command, atOnce{w}) // the reader has what it has printed
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

// commanded reads the command that a request has.
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

// atOnce sends what is written as soon as it is.
type atOnce struct{ http.ResponseWriter }

func (w atOnce) Write(text []byte) (int, error) {
	n, err := w.ResponseWriter.Write(text)
	return n, errors.Join(err, http.NewResponseController(w.ResponseWriter).Flush())
}
