package proxy

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// onNode runs a command with the files and mounts of the node's process 1.
func onNode(ctx context.Context, command []string, out io.Writer) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// It is never unlocked, because the thread is in another namespace and ends with the
		// goroutine.
		runtime.LockOSThread()
		if err = enterNode(); err != nil {
			err = fmt.Errorf("enter the mount namespace of the node: %w", err)
			return
		}
		var complaints strings.Builder
		child := exec.CommandContext(ctx, command[0], command[1:]...)
		child.Stdout, child.Stderr, child.Dir = out, &complaints, "/"
		if err = child.Run(); err != nil && complaints.Len() > 0 {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(complaints.String()))
		}
	}()
	<-done
	return err
}

// enterNode gives this thread the mounts of process 1.
func enterNode() error {
	namespace, err := os.Open("/proc/1/ns/mnt")
	if err != nil {
		return err
	}
	defer namespace.Close()
	// A thread that shares its root directory with others cannot enter.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	return unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNS)
}
