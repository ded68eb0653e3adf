package live

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfigChange is the change that a cluster makes to a kubeconfig, with the data to undo it.
type kubeconfigChange struct {
	File  string // without symlinks
	Name  string // the name of the cluster, its user and its context
	Fresh bool   // the file did not exist before
	Mode  fs.FileMode
	// Before and After are the content of the file. If the file is still After, undoing restores
	// Before byte for byte.
	Before, After []byte
	Context       string // the context that was current before
}

// kubeconfigFile returns the file that kubectl would change: the named one, or kubectl's default.
func kubeconfigFile(named string) string {
	file := named
	if file == "" {
		file = clientcmd.NewDefaultPathOptions().GetDefaultFilename()
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	if full, err := filepath.Abs(file); err == nil {
		file = full
	}
	return file
}

// planKubeconfig returns the change that adds a cluster to a file. The file must be locked.
func planKubeconfig(file, name string, own *api.Config) (*kubeconfigChange, error) {
	c := &kubeconfigChange{File: file, Name: name, Mode: 0o600}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Fresh = true
	case err != nil:
		return nil, err
	default:
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		if _, err := clientcmd.Load(text); err != nil {
			return nil, fmt.Errorf("%s is no kubeconfig: %w", file, err)
		}
		c.Before, c.Mode = text, info.Mode().Perm()
	}
	added, err := clientcmd.Write(*own)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		c.After = added
		return c, nil
	}
	c.After, err = editKubeconfig(text, func(root *yaml.Node) error {
		c.Context = scalarOf(root, "current-context")
		var other yaml.Node
		if err := yaml.Unmarshal(added, &other); err != nil {
			return err
		}
		for _, list := range kubeconfigLists {
			removeNamed(valueOf(root, list), name)
			appendTo(root, list, valueOf(other.Content[0], list).Content)
		}
		setScalar(root, "current-context", name)
		return nil
	})
	return c, err
}

var kubeconfigLists = []string{"clusters", "users", "contexts"}

// apply writes the file.
func (c *kubeconfigChange) apply() error { return replaceFile(c.File, c.After, 0o600) }

// undo removes the cluster from the file, which other programs may have changed meanwhile.
func (c *kubeconfigChange) undo() error {
	return withLock(c.File, func() error {
		now, err := os.ReadFile(c.File)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case bytes.Equal(now, c.Before) && !c.Fresh:
			return nil
		case bytes.Equal(now, c.After) && c.Fresh:
			return os.Remove(c.File)
		case bytes.Equal(now, c.After):
			return replaceFile(c.File, c.Before, c.Mode)
		}
		text, err := editKubeconfig(now, func(root *yaml.Node) error {
			for _, list := range kubeconfigLists {
				removeNamed(valueOf(root, list), c.Name)
			}
			if scalarOf(root, "current-context") == c.Name {
				setScalar(root, "current-context", c.Context)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("take cluster %q out of %s: %w", c.Name, c.File, err)
		}
		return replaceFile(c.File, text, c.Mode)
	})
}

// editKubeconfig changes the YAML of a kubeconfig and keeps its comments.
func editKubeconfig(text []byte, edit func(root *yaml.Node) error) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it is not a mapping")
	}
	if err := edit(document.Content[0]); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// valueOf returns the value of a key in a mapping; nil without the key.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

func scalarOf(mapping *yaml.Node, key string) string {
	if value := valueOf(mapping, key); value != nil {
		return value.Value
	}
	return ""
}

func setScalar(mapping *yaml.Node, key, text string) {
	if value := valueOf(mapping, key); value != nil {
		value.Kind, value.Tag, value.Value, value.Content = yaml.ScalarNode, "!!str", text, nil
		return
	}
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text})
}

// removeNamed removes the entries of a list that have a name.
func removeNamed(list *yaml.Node, name string) {
	if list == nil {
		return
	}
	list.Content = slices.DeleteFunc(list.Content, func(entry *yaml.Node) bool { return scalarOf(entry, "name") == name })
}

func appendTo(mapping *yaml.Node, key string, entries []*yaml.Node) {
	list := valueOf(mapping, key)
	if list == nil {
		list = &yaml.Node{}
		mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, list)
	}
	if list.Kind != yaml.SequenceNode { // null
		*list = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	}
	list.Content = append(list.Content, entries...)
}

// lockPatience bounds the wait for another program that has locked a kubeconfig.
const lockPatience = 5 * time.Second

// withLock calls do while the file is locked by FILE.lock, as kubectl locks it.
func withLock(file string, do func() error) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	name := file + ".lock"
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(10 * time.Millisecond) {
		lock, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0)
		if err == nil {
			defer os.Remove(name)
			defer lock.Close()
			return do()
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s is there: another program changes the kubeconfig; remove it if none does", name)
		}
	}
}

// replaceFile replaces a file's content atomically. Its owner stays the same.
func replaceFile(file string, text []byte, mode fs.FileMode) (err error) {
	next, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(next.Name()))
		}
	}()
	_, err = next.Write(text)
	if err == nil && mode != 0o600 {
		err = next.Chmod(mode)
	}
	if info, missing := os.Stat(file); err == nil && missing == nil {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Getuid() {
			_ = next.Chown(int(owner.Uid), int(owner.Gid)) // needed by root only
		}
	}
	if err = errors.Join(err, next.Sync(), next.Close()); err != nil {
		return err
	}
	return os.Rename(next.Name(), file)
}
