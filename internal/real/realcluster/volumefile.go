package realcluster

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
	"github.com/csisim/csisim/sim"
)

// refused is the prefix of the output for a refusal of the volume, which is not an error of the
// node.
const refused = "refused: "

// inVolume is the beginning of scripts for file $2 of the directory $1. It refuses if nothing is
// mounted at $1, or if $2 is not a regular file.
const inVolume = `fail() { printf '` + refused + `%s' "$1"; exit 0; }
mountpoint -q "$1" || fail "nothing is mounted at $1"
file=$1/$2
[ ! -L "$file" ] || fail "$file is a symbolic link, not a regular file"
[ ! -e "$file" ] || [ -f "$file" ] || fail "$file is not a regular file"
`

// writeCommand writes $3, in base64, as user $4 and group $5, with the permissions $6. In a setgid
// directory the file gets the directory's group.
const writeCommand = inVolume + `group=$5
[ ! -g "$1" ] || group=$(stat -c %g "$1")
problem=$({ printf %s "$3" | base64 -d > "$file" && chown "$4:$group" "$file" && chmod "$6" "$file" && sync "$file"; } 2>&1) || fail "$problem"`

// readCommand prints owner, group and permissions, then the content in base64.
const readCommand = inVolume + `owner=$(stat -c '%u %g %a' "$file" 2>&1) || fail "$owner"
content=$(base64 -w 0 "$file" 2>&1) || fail "$content"
printf '%s\n%s' "$owner" "$content"`

// WriteVolumeFile writes a file into the root of a volume, given by its name in the pod, like a
// container that runs as the file's user and group.
func (c *Cluster) WriteVolumeFile(pod store.Key, volumeName, name string, f sim.VolumeFile) error {
	content := base64.StdEncoding.EncodeToString([]byte(f.Content))
	_, err := c.doInVolume(writeCommand, pod, volumeName, name, content, strconv.Itoa(f.UID), strconv.Itoa(f.GID), fmt.Sprintf("%o", f.Mode.Perm()))
	return err
}

// ReadVolumeFile reads a file in the root of a volume, given by its name in the pod.
func (c *Cluster) ReadVolumeFile(pod store.Key, volumeName, name string) (sim.VolumeFile, error) {
	out, err := c.doInVolume(readCommand, pod, volumeName, name)
	if err != nil {
		return sim.VolumeFile{}, err
	}
	return readVolumeFile(out)
}

// readVolumeFile parses the output of readCommand.
func readVolumeFile(out string) (f sim.VolumeFile, err error) {
	first, text, _ := strings.Cut(out, "\n")
	var mode uint32
	if _, err := fmt.Sscanf(first, "%d %d %o", &f.UID, &f.GID, &mode); err != nil {
		return f, fmt.Errorf("read owner and permissions %q: %w", first, err)
	}
	content, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	f.Content, f.Mode = string(content), fs.FileMode(mode).Perm()
	return f, err
}

// doInVolume runs a script on a pod's node with the directory of its volume, the name of the file
// and more arguments.
func (c *Cluster) doInVolume(script string, key store.Key, volumeName, name string, args ...string) (string, error) {
	c.pump()
	pod, spec, err := volume.WithFiles(c.world.Store, key, volumeName, name)
	if err != nil {
		return "", &sim.ConfigError{Subject: fmt.Sprintf("volume %q of pod %s", volumeName, key.Name), Problem: err.Error()}
	}
	doing := fmt.Sprintf("reach %s in volume %s of pod %s", name, volumeName, key.Name)
	dir := fakekubelet.TargetPath(machine.KubeletDir, pod.UID, c.volumeInCluster(spec))
	out, err := c.runTo(doing, pod.Spec.NodeName, append([]string{"sh", "-c", script, "sh", dir, name}, args...)...)
	if problem, is := strings.CutPrefix(out, refused); is && err == nil {
		return "", fmt.Errorf("%s: %s", doing, problem)
	}
	return out, err
}

// volumeInCluster returns the name of a pod's volume in the cluster. An inline volume's name is its
// name in the pod.
func (c *Cluster) volumeInCluster(name string) string {
	key := store.Key{Name: name}
	res, _ := store.ResourceFor(corev1.SchemeGroupVersion.WithKind("PersistentVolume"))
	if _, is := c.world.Store.GetObject(res, key); !is {
		return name
	}
	return c.keyOf(res, key).Name
}
