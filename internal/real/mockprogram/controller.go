package mockprogram

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Controller is the driver's controller plugin.
type Controller struct {
	// Socket is the plugin's socket, Backend the address of the backend, and Token the backend's
	// bearer token.
	Socket, Backend, Token string
}

// Serve serves until ctx ends.
func (c Controller) Serve(ctx context.Context) error {
	start := fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano())
	return passing{c.Socket, c.Backend, []string{startKey, start, tokenKey, c.Token}}.serve(ctx)
}
