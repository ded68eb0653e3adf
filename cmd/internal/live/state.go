package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/csisim/csisim/sim"
)

// State is the stored description of a live cluster, for down and get.
type State struct {
	PID                  int
	Address, Token, Page string
	Authority            []byte
	Endpoints            []sim.Endpoint
	Directories          []sim.Directory
	SSH                  Login
}

// Claim is the exclusive right to a cluster's name. Its file is locked while the process runs. It
// contains the changes to undo if the process is killed.
type Claim struct {
	name string
	file *os.File
}

// upDir is the directory with the descriptions of live clusters.
func upDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", &EnvironmentError{err}
	}
	dir := filepath.Join(cache, "csisim", "up")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", &EnvironmentError{err}
	}
	return dir, nil
}

const (
	stateSuffix = ".json" // read by down and get
	claimSuffix = ".lock" // locked by the owner of the name
)

// claimPatience allows for other processes that briefly lock the file to check whether a cluster is
// up.
const claimPatience = 300 * time.Millisecond

// ClaimName claims a cluster's name. It undoes the changes of a killed cluster of that name.
func ClaimName(name string) (*Claim, error) {
	dir, err := upDir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name+claimSuffix)
	for deadline := time.Now().Add(claimPatience); ; time.Sleep(10 * time.Millisecond) {
		c, err := tryClaim(path, name, os.O_CREATE)
		switch {
		case err != nil:
			return nil, &EnvironmentError{fmt.Errorf("claiming the cluster's name: %w", err)}
		case c != nil:
			if err := c.undo(); err != nil {
				return nil, &EnvironmentError{errors.Join(err, c.file.Close())}
			}
			return c, nil
		case time.Now().Before(deadline):
			continue
		}
		by := ""
		if known, err := readState(name); err == nil {
			by = fmt.Sprintf(", as process %d", known.PID)
		}
		return nil, &InputError{fmt.Errorf("cluster %q is up already%s; give this one another --name", name, by)}
	}
}

// tryClaim claims the name. It returns nil if another process has the name.
func tryClaim(path, name string, flags int) (*Claim, error) {
	file, err := os.OpenFile(path, os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, err
	}
	held, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	// The last owner has removed the file.
	if there, err := os.Lstat(path); err != nil || !os.SameFile(held, there) {
		return nil, file.Close()
	}
	return &Claim{name: name, file: file}, nil
}

// write stores the changes to undo.
func (c *Claim) write(change *kubeconfigChange) error {
	text, err := json.Marshal(change)
	if err != nil {
		return err
	}
	if _, err := c.file.WriteAt(text, 0); err != nil {
		return err
	}
	return c.file.Truncate(int64(len(text)))
}

// undo reverts the changes of this cluster, or of a killed cluster of the same name.
func (c *Claim) undo() error {
	text, err := os.ReadFile(c.file.Name())
	if err != nil || len(text) == 0 {
		return err
	}
	var change kubeconfigChange
	if err := json.Unmarshal(text, &change); err != nil {
		// The process was killed while it wrote the claim. It changes the kubeconfig only
		// afterwards.
		return c.file.Truncate(0)
	}
	if err := change.undo(); err != nil {
		return fmt.Errorf("restoring the kubeconfig: %w", err)
	}
	return c.file.Truncate(0)
}

// Release gives up the name. Other processes may wait for this, to detect the end of the cluster.
func (c *Claim) Release() error {
	err := c.undo()
	if err == nil {
		err = errors.Join(removeState(c.name), os.Remove(c.file.Name()))
	}
	return errors.Join(err, c.file.Close())
}

func removeState(name string) error {
	dir, err := upDir()
	if err != nil {
		return err
	}
	err = os.Remove(filepath.Join(dir, name+stateSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func writeState(name string, r State) error {
	dir, err := upDir()
	if err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, name+stateSuffix), text, 0o600)
}

func readState(name string) (r State, err error) {
	dir, err := upDir()
	if err != nil {
		return r, err
	}
	path := filepath.Join(dir, name+stateSuffix)
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("reading %s: %w", path, err)
	}
	return r, nil
}

var errNotUp = errors.New("is not up")

// Find returns a cluster that is up. It undoes the changes of a cluster that was killed.
func Find(name string) (State, error) {
	killed, err := UndoKilled(name)
	if killed || errors.Is(err, fs.ErrNotExist) {
		return State{}, errNotUp
	}
	if err != nil {
		return State{}, err
	}
	r, err := readState(name)
	if errors.Is(err, fs.ErrNotExist) {
		return r, errors.New("is not up yet")
	}
	return r, err
}

// UndoKilled undoes the changes of a killed cluster. It returns false if the cluster is up.
func UndoKilled(name string) (killed bool, err error) {
	dir, err := upDir()
	if err != nil {
		return false, err
	}
	c, err := tryClaim(filepath.Join(dir, name+claimSuffix), name, 0)
	if err != nil || c == nil {
		return false, err
	}
	return true, c.Release()
}

// UndoAllKilled undoes the changes of all killed clusters, and returns their names.
func UndoAllKilled() (names []string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, nil // then there is no cluster
	}
	files, err := filepath.Glob(filepath.Join(cache, "csisim", "up", "*"+claimSuffix))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), claimSuffix)
		killed, failed := UndoKilled(name)
		err = errors.Join(err, failed)
		if killed && failed == nil {
			names = append(names, name)
		}
	}
	return names, err
}
