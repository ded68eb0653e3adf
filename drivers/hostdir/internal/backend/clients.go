//go:build linux

package backend

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const clientsDir = "clients"

// clientPatience bounds how long a change of fences waits for the node plugins.
const clientPatience = 10 * time.Second

// notice is the answer of a node's plugin to the current fences.
type notice struct {
	Fences  []string `json:"fences"`
	Problem string   `json:"problem,omitempty"`
}

// FollowFences calls apply with the current fences, and again after each change, until the process
// ends. A change of fences waits until apply returns.
func (b *Backend) FollowFences(nodeID string, apply func(fences []string) error) error {
	if err := os.MkdirAll(filepath.Join(b.dir, clientsDir), 0o755); err != nil {
		return err
	}
	changes, err := watch(b.dir)
	if err != nil {
		return fmt.Errorf("follow fences: %w", err)
	}
	file, err := hold(filepath.Join(b.dir, clientsDir, nodeID))
	if err == nil {
		err = b.noticeFences(file, apply)
	}
	if err != nil {
		return fmt.Errorf("follow fences: %w", err)
	}
	go func() {
		for range changes {
			if err := b.noticeFences(file, apply); err != nil {
				log.Printf("follow fences: %v", err)
			}
		}
	}()
	return nil
}

// noticeFences applies the fences, and records the result in the file.
func (b *Backend) noticeFences(file *os.File, apply func([]string) error) error {
	fences, err := b.Fences()
	if err != nil {
		return err
	}
	n := notice{Fences: fences}
	if err := apply(fences); err != nil {
		n.Problem = err.Error()
	}
	text, err := json.Marshal(n)
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.WriteAt(text, 0)
	}
	return err
}

// awaitClients returns when the plugins of all living nodes have applied the fences.
func (b *Backend) awaitClients() error {
	for deadline := time.Now().Add(clientPatience); ; time.Sleep(time.Millisecond) {
		late, err := b.lateClients()
		if err != nil || late == "" {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("node %s does not apply the fences: %w", late, ErrUnreachable)
		}
	}
}

// lateClients returns a node that has not applied the fences; "" if there is none.
func (b *Backend) lateClients() (string, error) {
	wanted, err := b.Fences()
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(filepath.Join(b.dir, clientsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, e := range entries {
		name := filepath.Join(b.dir, clientsDir, e.Name())
		alive, err := isHeld(name)
		if err != nil {
			return "", err
		}
		var n notice
		switch err := ReadJSON(name, &n); {
		case !alive:
		case err != nil || !slices.Equal(n.Fences, wanted): // incomplete, or with old fences
			return e.Name(), nil
		case n.Problem != "":
			return "", fmt.Errorf("fences of node %s: %s", e.Name(), n.Problem)
		}
	}
	return "", nil
}

// hold opens a file and locks it, until the file is closed or the process ends.
func hold(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_SH); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// isHeld reports whether a process has a lock on a file.
func isHeld(name string) (bool, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return false, err
	}
	defer file.Close()
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// watch sends whenever a file is moved into a directory.
func watch(dir string) (<-chan struct{}, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MOVED_TO); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	changes := make(chan struct{})
	go func() {
		// Files other than the fences are rare, so events of all files are reported.
		events := make([]byte, 4096)
		for {
			if _, err := unix.Read(fd, events); err != nil && !errors.Is(err, unix.EINTR) {
				log.Printf("watch %s: %v", dir, err)
				return
			}
			changes <- struct{}{}
		}
	}()
	return changes, nil
}
