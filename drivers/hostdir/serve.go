//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/cost"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// stopPatience bounds the time for calls in flight when the driver stops.
const stopPatience = 5 * time.Second

// serve answers calls on the endpoints until ctx ends. The endpoint of CSI-Addons may be the same.
// At the end, serve waits for the calls in flight and removes the sockets.
func serve(ctx context.Context, o options) error {
	endpoint, addonsEndpoint, cfg, logsAccounts := o.endpoint, o.addonsEndpoint, o.config, o.logsAccounts
	select {
	case <-time.After(cfg.StartDelay):
	case <-ctx.Done():
		return nil
	}
	if err := cost.Start(o.costs, cfg.StateDir); err != nil {
		return err
	}
	o.defects.Configure(&cfg)
	driver, err := service.Start(cfg)
	if err != nil {
		return err
	}
	if err := o.defects.Start(driver); err != nil {
		return err
	}
	exclusive := service.Exclusive(driver.Locks)
	newServer := func() *grpc.Server {
		calls := []grpc.UnaryServerInterceptor{logFailures, logAccounts(logsAccounts), exclusive, o.defects.Calls(driver)}
		return grpc.NewServer(grpc.ChainUnaryInterceptor(append(calls, cost.Calls(o.costs)...)...))
	}
	server := newServer()
	servers, addonsServer := []*grpc.Server{server}, server
	if addonsEndpoint != "" {
		addonsServer = newServer()
		servers = append(servers, addonsServer)
	}
	if err := driver.Register(server, addonsServer); err != nil {
		return err
	}
	if addonsServer != server {
		listener, err := listen(socketPath(addonsEndpoint))
		if err != nil {
			return err
		}
		defer addonsServer.Stop()
		go func() { _ = addonsServer.Serve(listener) }() // ends with stop or Stop
	}
	listener, err := o.defects.Listener(listen)(socketPath(endpoint))
	if err != nil {
		return err
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		o.defects.Stop(driver)
		stop(servers)
	}()
	if err := server.Serve(listener); err != nil {
		return err
	}
	<-stopped
	return nil
}

// stop lets the calls in flight finish within the patience.
func stop(servers []*grpc.Server) {
	var stopping sync.WaitGroup
	for _, server := range servers {
		stopping.Go(func() {
			patience := time.AfterFunc(stopPatience, server.Stop)
			defer patience.Stop()
			server.GracefulStop() // this closes the listener, which removes the socket
		})
	}
	stopping.Wait()
}

// maxSocketPath is the capacity of the kernel's socket address without its final zero byte.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

func socketPath(endpoint string) string {
	return strings.TrimPrefix(strings.TrimPrefix(endpoint, "unix:"), "//")
}

// listen opens the socket. It replaces a socket that a killed process left behind.
func listen(path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("listen on %s: longer than the %d bytes that a socket path may have", path, maxSocketPath)
	}
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		return nil, fmt.Errorf("listen on %s: it exists and is no socket", path)
	}
	if err == nil {
		if err := removeStale(path); err != nil {
			return nil, err
		}
	}
	return net.Listen("unix", path)
}

func removeStale(path string) error {
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
		return fmt.Errorf("listen on %s: another process serves it", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("listen on %s: %w", path, err)
	}
	return os.Remove(path)
}

// logFailures logs failing calls.
func logFailures(ctx context.Context, req any, call *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	answer, err := handle(ctx, req)
	if err != nil {
		log.Printf("%s: %s: %s", call.FullMethod, status.Code(err), status.Convert(err).Message())
	}
	return answer, err
}

// logAccounts logs, if enabled, the parts of secrets that are not credentials.
func logAccounts(logs bool) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, call *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		if with, has := req.(interface{ GetSecrets() map[string]string }); has && logs {
			for _, key := range []string{"user", "endpoint", "region"} {
				log.Printf("%s: %s %s", call.FullMethod, key, with.GetSecrets()[key])
			}
		}
		return handle(ctx, req)
	}
}
