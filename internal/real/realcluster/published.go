package realcluster

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/world/machine"
)

// publishedAt is the path where a volume is published for a pod.
type publishedAt struct {
	node, path string
	block      bool
	// apart means that the volume has separate content on each node.
	apart bool
}

// published is the state of a volume on its node at the time of the reading. Writes go to the node;
// reads return the state.
type published struct {
	publishedAt
	cluster  *Cluster
	verdict  string // absent, unmounted, failed, irregular, empty, others, or data
	detail   string // the reason of failed, or the type of the irregular file
	contents []byte
}

// lookTime limits the reading of a volume, in seconds, because a read may never return if the
// volume's driver serves it and has exited.
const lookTime = "10"

// lookCommand prints the state of the volume at $1, and the content of its file $2.
const lookCommand = `problem=$(stat -L "$1" 2>&1 >/dev/null) || case $problem in
*"No such file"*) echo absent; exit 0 ;;
*) echo failed; printf %s "$problem"; exit 0 ;;
esac
mountpoint -q "$1" || { echo unmounted; exit 0; }
file=$1/$2
if [ -L "$file" ] || { [ -e "$file" ] && [ ! -f "$file" ]; }; then echo irregular; find "$file" -maxdepth 0 -printf %y; exit 0; fi
if [ ! -e "$file" ]; then
	entries=$(ls -A "$1" 2>&1) || { echo failed; printf %s "$entries"; exit 0; }
	[ -n "$entries" ] && echo others || echo empty
	exit 0
fi
content=$(base64 -w 0 "$file" 2>&1) || { echo failed; printf %s "$content"; exit 0; }
echo data
printf %s "$content"`

// lookAtDeviceCommand prints the first $2 bytes of the device $1.
const lookAtDeviceCommand = `[ -e "$1" ] || { echo absent; exit 0; }
problem=$(dd if="$1" of=/dev/null bs="$2" count=1 2>&1) || { echo failed; printf %s "$problem"; exit 0; }
echo data
dd if="$1" bs="$2" count=1 2>/dev/null | base64 -w 0`

// putCommand writes $3, in base64, to the file $2 of the directory $1, with permissions $4.
const putCommand = inVolume + `problem=$({ printf %s "$3" | base64 -d > "$file" && chmod "$4" "$file" && sync "$file"; } 2>&1) || fail "$problem"`

// putOnDeviceCommand writes $2, in base64, to the start of the device $1.
const putOnDeviceCommand = `problem=$({ printf %s "$2" | base64 -d | dd of="$1" conv=notrunc,fsync; } 2>&1) || printf '` + refused + `%s' "$problem"`

// lookAt returns the state of a volume on its node. An error concerns the node.
func (c *Cluster) lookAt(at publishedAt) (*published, error) {
	script, arg := lookCommand, data.FileName
	if at.block {
		script, arg = lookAtDeviceCommand, strconv.Itoa(data.BlockBytes)
	}
	out, err := c.runTo("look at "+at.path, at.node, "timeout", lookTime, "sh", "-c", script, "sh", at.path, arg)
	if err != nil {
		return nil, err
	}
	return readPublished(c, at, out)
}

// readPublished parses the output of lookCommand or lookAtDeviceCommand.
func readPublished(c *Cluster, at publishedAt, out string) (*published, error) {
	verdict, detail, _ := strings.Cut(out, "\n")
	p := &published{publishedAt: at, cluster: c, verdict: verdict, detail: strings.TrimSpace(detail)}
	if verdict != "data" {
		return p, nil
	}
	var err error
	if p.contents, err = base64.StdEncoding.DecodeString(p.detail); err != nil {
		return nil, fmt.Errorf("read the volume at %s on %s: %w", at.path, at.node, err)
	}
	return p, nil
}

// isAmiss reports whether no readable volume was found.
func (p *published) isAmiss() bool {
	return p.verdict == "absent" || p.verdict == "unmounted" || p.verdict == "failed"
}

// IsShared reports whether other nodes show the same content.
func (p *published) IsShared(string) bool { return !p.apart }

// IsMountPoint reports whether the volume is mounted.
func (p *published) IsMountPoint(path string) (bool, error) {
	switch p.verdict {
	case "absent":
		return false, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	case "failed":
		return false, errors.New(p.detail)
	}
	return p.verdict != "unmounted", nil
}

// ReadDir returns an entry if the volume has any.
func (p *published) ReadDir(string) ([]fs.DirEntry, error) {
	if p.verdict == "empty" {
		return nil, nil
	}
	return make([]fs.DirEntry, 1), nil
}

// ReadVolumeFile returns the content of the file when it was read.
func (p *published) ReadVolumeFile(dir, name string) ([]byte, error) {
	file := path.Join(dir, name)
	switch p.verdict {
	case "irregular":
		return nil, &machine.NotRegularError{Path: file, Mode: fileTypes[p.detail]}
	case "empty", "others":
		return nil, &fs.PathError{Op: "open", Path: file, Err: fs.ErrNotExist}
	}
	return p.contents, nil
}

// ReadStart returns the first bytes of the device when they were read.
func (p *published) ReadStart(device string, _ int) ([]byte, error) {
	switch p.verdict {
	case "absent":
		return nil, &fs.PathError{Op: "open", Path: device, Err: fs.ErrNotExist}
	case "failed":
		return nil, errors.New(p.detail)
	}
	return p.contents, nil
}

// WriteVolumeFile writes the file on the node.
func (p *published) WriteVolumeFile(_, name string, data []byte, perm fs.FileMode) error {
	return p.put(putCommand, name, base64.StdEncoding.EncodeToString(data), fmt.Sprintf("%o", perm.Perm()))
}

// WriteStart writes to the device on the node.
func (p *published) WriteStart(_ string, data []byte) error {
	return p.put(putOnDeviceCommand, base64.StdEncoding.EncodeToString(data))
}

func (p *published) put(script string, args ...string) error {
	out, err := p.cluster.runTo("write to "+p.path, p.node, append([]string{"timeout", lookTime, "sh", "-c", script, "sh", p.path}, args...)...)
	if problem, is := strings.CutPrefix(out, refused); is && err == nil {
		return errors.New(problem)
	}
	return err
}
